import { type Address, zeroAddress } from 'viem'
import { readAddress, readArray, readBytes, readSelector, readTuple, readUint, type Slice } from './abi.js'
import { formatHex } from './calldata.js'

/** One call some contract makes: who calls what with which part of the transaction input. */
export type Call = Slice & {
  caller: Address
  target: Address
  /** The target's code runs as the caller (delegatecall), so what it calls, the caller calls. */
  isDelegated: boolean
}

/** The calls inside one call; undefined when the call is no wrapper we know or its arguments do not decode. */
type Unwrap = (call: Call, limit: number) => Call[] | undefined

const selectors = {
  execute: 0xb61d27f6, // execute(address,uint256,bytes)
  executeMode: 0xe9ae5c53, // execute(bytes32,bytes)
  executeBatchPairs: 0x18dfb3c7, // executeBatch(address[],bytes[])
  executeBatchTriples: 0x47e1da2a, // executeBatch(address[],uint256[],bytes[])
  executeBatchCalls: 0x34fcd5be, // executeBatch((address,uint256,bytes)[])
  execTransaction: 0x6a761202, // execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)
  multiSend: 0x8d80ff0a, // multiSend(bytes)
  multicall: 0xac9650d8, // multicall(bytes[])
} as const

/** Selectors only a user operation's own calldata begins with. */
const operationSelectors = {
  executeUserOp: 0x8dd7712f, // executeUserOp((…),bytes32): the account runs the rest of callData
  safeExecuteUserOp: 0x7bb37428, // executeUserOp(address,uint256,bytes,uint8)
  safeExecuteUserOpWithError: 0x541d63c8, // executeUserOpWithErrorString(address,uint256,bytes,uint8)
} as const

/**
 * The calls inside a call, in order, at most `limit`, for the wrappers we know: execute and executeBatch of ERC-7579,
 * ERC-7821, SimpleAccount and EIP-7702 accounts, Safe execTransaction and the multiSend it delegates to, and
 * multicall(bytes[]). Anything else, and anything that does not decode, has none: such a call would have reverted.
 */
export function unwrapCall(call: Call, limit: number): Call[] {
  const selector = readSelector(call)
  const unwrap = selector === undefined ? undefined : (call.isDelegated ? delegatedWrappers : wrappers).get(selector)
  return unwrap?.(call, limit) ?? []
}

/** The same for the calldata of a user operation, which may also be a Safe's ERC-4337 module call. */
export function unwrapOperation(call: Call, limit: number): Call[] {
  const selector = readSelector(call)
  const isSafe =
    selector === operationSelectors.safeExecuteUserOp || selector === operationSelectors.safeExecuteUserOpWithError
  return isSafe ? (unwrapSafe(call) ?? []) : unwrapCall(call, limit)
}

/** A user operation's calldata without the selector that tells the account to take it from the operation itself. */
export function operationBody(callData: Slice): Slice {
  const isPrefixed = readSelector(callData) === operationSelectors.executeUserOp
  return isPrefixed ? { ...callData, start: callData.start + 4 } : callData
}

const unwrapExecute: Unwrap = (call) => {
  const args = call.start + 4
  const inner = readCall(call, args, args)
  return inner && [inner]
}

const unwrapMode: Unwrap = (call, limit) => {
  const args = call.start + 4
  const execution = readBytes(call, args, args + 32)
  if (!execution) return undefined
  const [callType = 0xff, execType = 0xff] = call.data.subarray(args, args + 2)
  // Revert on failure or try each: both run the calls. Static and delegated calls are not the account's own calls.
  if (execType > 1) return undefined
  if (callType === 0) return unwrapPacked(call, execution)
  if (callType !== 1) return undefined
  const modeSelector = formatHex(call.data, args + 6, args + 10)
  return modeSelector === '0x78210002' ? unwrapBatches(call, execution, limit) : unwrapTuples(call, execution, limit)
}

/** ERC-7579 single call: target, value, data, without padding. */
function unwrapPacked(call: Call, execution: Slice): Call[] | undefined {
  const { data, start, end } = execution
  if (end - start < 52) return undefined
  return [
    {
      data,
      caller: call.target,
      target: formatHex(data, start, start + 20),
      start: start + 52,
      end,
      isDelegated: false,
    },
  ]
}

/** ERC-7821 batch of batches: `abi.encode(bytes[])`, each a batch. */
function unwrapBatches(call: Call, execution: Slice, limit: number): Call[] | undefined {
  return readList(execution, execution.start, limit, (list, at) => {
    const batch = readBytes(execution, list, at)
    return batch && unwrapTuples(call, batch, limit)
  })
}

/** `(address,uint256,bytes)[]` at the start of encoded arguments; the account itself stands for the zero address (ERC-7821). */
function unwrapTuples(call: Call, args: Slice, limit: number): Call[] | undefined {
  return readList(args, args.start, limit, (list, at) => {
    const tuple = readTuple(args, list, at, 3)
    const inner = tuple === undefined ? undefined : readCall({ ...call, ...args }, tuple, tuple)
    return inner && [inner.target === zeroAddress ? { ...inner, target: call.target } : inner]
  })
}

const unwrapBatchCalls: Unwrap = (call, limit) => {
  const args = call.start + 4
  return readList({ ...call, start: args }, args, limit, (list, at) => {
    const tuple = readTuple(call, list, at, 3)
    const inner = tuple === undefined ? undefined : readCall(call, tuple, tuple)
    return inner && [inner]
  })
}

/** Parallel lists of targets, perhaps values, and data: they must be of one length, but values may be empty. */
function unwrapLists(dataWord: number, valueWord: number | undefined): Unwrap {
  return (call, limit) => {
    const args = call.start + 4
    const targets = readArray(call, args, args)
    const values = valueWord === undefined ? undefined : readArray(call, args, args + valueWord * 32)
    if (!targets || (valueWord !== undefined && !values)) return undefined
    if (values && values.count !== 0 && values.count !== targets.count) return undefined
    return readList(
      call,
      args,
      limit,
      (list, at, index, count) => {
        const target = readAddress(call, targets.start + index * 32)
        const inner = readBytes(call, list, at)
        if (!inner || !target || count !== targets.count) return undefined
        return [{ ...inner, caller: call.target, target, isDelegated: false }]
      },
      dataWord,
    )
  }
}

/** Safe: a plain call is made by the Safe; a delegated one is only followed into multiSend. */
const unwrapSafe = (call: Call): Call[] | undefined => {
  const args = call.start + 4
  const inner = readCall(call, args, args)
  const operation = readUint(call, args + 96)
  if (!inner || operation === undefined || operation > 1) return undefined
  return followed({ ...inner, isDelegated: operation === 1 })
}

/** multiSend: operation (1 byte), target (20), value (32), length (32), data, packed one after the other. */
const unwrapMultiSend: Unwrap = (call, limit) => {
  const args = call.start + 4
  const packed = readBytes(call, args, args)
  if (!packed) return undefined
  const { data, end } = packed
  const calls: Call[] = []
  for (let at = packed.start; at < end && calls.length < limit; ) {
    const operation = data[at] ?? 0
    const length = readUint(packed, at + 53)
    const start = at + 85
    if (operation > 1 || length === undefined || start + length > end) return undefined
    // The address before the value, not padded. Zero is the Safe itself in some versions; nobody deposits that way.
    const target = formatHex(data, at + 1, at + 21)
    const isDelegated = operation === 1
    calls.push(...followed({ data, caller: call.caller, target, start, end: start + length, isDelegated }))
    at = start + length
  }
  return calls
}

/** multicall(bytes[]): the contract delegates to itself, so who called it calls it again with each part. */
const unwrapMulticall: Unwrap = (call, limit) => {
  const args = call.start + 4
  return readList(call, args, limit, (list, at) => {
    const inner = readBytes(call, list, at)
    return inner && [{ ...inner, caller: call.caller, target: call.target, isDelegated: false }]
  })
}

const wrappers: ReadonlyMap<number, Unwrap> = new Map([
  [selectors.execute, unwrapExecute],
  [selectors.executeMode, unwrapMode],
  [selectors.executeBatchPairs, unwrapLists(1, undefined)],
  [selectors.executeBatchTriples, unwrapLists(2, 1)],
  [selectors.executeBatchCalls, unwrapBatchCalls],
  [selectors.execTransaction, unwrapSafe],
  [selectors.multicall, unwrapMulticall],
])

const delegatedWrappers: ReadonlyMap<number, Unwrap> = new Map([[selectors.multiSend, unwrapMultiSend]])

/** `target, value, data` at a head, with the data's offset counted from `base`; called by the contract being called. */
function readCall(call: Call, base: number, head: number): Call | undefined {
  const target = readAddress(call, head)
  const inner = readBytes(call, base, head + 64)
  return inner && target && { ...inner, caller: call.target, target, isDelegated: false }
}

/** A delegated call is followed only where we know what the code does with its caller's identity. */
function followed(call: Call): Call[] {
  return call.isDelegated && readSelector(call) !== selectors.multiSend ? [] : [call]
}

/** Every call the elements of an array argument make; undefined as soon as one does not decode. */
function readList(
  slice: Slice,
  base: number,
  limit: number,
  readItem: (list: number, at: number, index: number, count: number) => Call[] | undefined,
  word = 0,
): Call[] | undefined {
  const list = readArray(slice, base, base + word * 32)
  if (!list) return undefined
  const calls: Call[] = []
  for (let index = 0; index < list.count && calls.length < limit; index++) {
    const inner = readItem(list.start, list.start + index * 32, index, list.count)
    if (!inner) return undefined
    calls.push(...inner)
  }
  return calls
}
