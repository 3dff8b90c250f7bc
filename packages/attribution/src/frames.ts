import type { Address } from 'viem'
import { readAddress, readArray, readBytes, readSelector, readTuple, type Slice } from './abi.js'
import type { ExecutedOperation } from './executed.js'
import { type Call, operationBody, unwrapCall, unwrapOperation } from './wrappers.js'

/**
 * Who calls what with which data: the transaction itself, a call inside a wrapper we know, or a call in a trace.
 * Positions index `data`, of which the frame has the part from `start` to `end`. Bytes before `floor` belong to a
 * call further in.
 */
export type Frame = {
  caller: Address
  target: Address
  /** The transaction input; of a call a trace tells of its own data, or that of the call it runs in. */
  data: Uint8Array
  start: number
  end: number
  floor: number
  /** 0 for the transaction or a bundled user operation's own calldata, one more for each wrapper around it. */
  depth: number
  /**
   * Whether nobody's word is needed that the caller made this call: the transaction itself, an operation an entry point
   * ran, the calls these say their own account makes, and every call of a trace. A caller named by calldata alone is not
   * proven.
   */
  proven: boolean
  /** Of a trace: the frame it lies in, null for the outermost. Absent where calldata tells: there the bytes say it. */
  within?: Frame | null
  /** Of a trace: that it was called with these bytes is one node's word. */
  isWord?: boolean
  /** The entry points whose `handleOps` runs it, or runs a call around it. */
  ranBy?: readonly string[]
}

/** Whether a call lies inside a frame. */
export function isInside(call: Frame, frame: Frame): boolean {
  if (frame.depth >= call.depth) return false
  if (call.within === undefined) return frame.data === call.data && frame.start <= call.start && call.end <= frame.end
  for (let at: Frame | null | undefined = call.within; at; at = at.within) if (at === frame) return true
  return false
}

/** Frames that share one sender, outer before inner and in the order of the calls: descendants follow their wrapper. */
export type FrameGroup =
  | { kind: 'transaction'; frames: Frame[] }
  | {
      kind: 'userOperation'
      index: number
      sender: Address
      frames: Frame[]
      /** Log index of the UserOperationEvent, where it was needed to find the operation. */
      endedAt?: number
    }

export type TransactionFrames = {
  groups: FrameGroup[]
  /** The outer call of a bundle of user operations. Its end is the bundler's and counts for none of them. */
  bundle: Frame | undefined
  /** More calls than we follow, or calls that overlap as no honest encoder writes them; the rest was not read. */
  truncated: boolean
}

/** Wrappers inside wrappers that are followed. */
const depthMax = 8
/** Frames of one group, and user operations of one transaction. */
const framesMax = 1024
export const operationsMax = 512
/** Times the input's length that the operations of a bundle may have together: a few that share bytes hide no other. */
const sharedMax = 16

/** Depth of an operation found inside a transaction to another contract: whatever wraps it there lies around it. */
const foundDepth = depthMax + 2

const handleOpsSelectors: readonly number[] = [
  0x1fad948c, // EntryPoint 0.6 handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)
  0x765e827f, // EntryPoint 0.7 and 0.8 handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)
]

/**
 * The frames of a transaction. `entryPoints` are the ERC-4337 entry points we know, lower-case: in a bundle sent to one of
 * them each user operation is a group of its own, and so is each of `executed`, the operations found in the input of a
 * transaction to another contract or of another entry point. Addresses are lower-case. A deployment has no frames. Work is linear in the input and
 * in each operation executed; never throws.
 */
export function readFrames(transaction: {
  from: Address
  to: Address | null
  input: Uint8Array
  entryPoints: readonly Address[]
  executed?: readonly ExecutedOperation[]
}): TransactionFrames {
  const { from, to, input, entryPoints, executed = [] } = transaction
  if (to === null) return { groups: [], bundle: undefined, truncated: false }
  const call: Call = { data: input, start: 0, end: input.length, caller: from, target: to, isDelegated: false }
  if (isBundle(call, entryPoints)) {
    const read = readBundle(call)
    const inner = readExecuted(input, executed, { depth: foundDepth, before: read.groups.length })
    return { ...read, groups: [...read.groups, ...inner.groups], truncated: read.truncated || inner.truncated }
  }
  // Operations that an entry point runs for a bundle of another kind are found by its events, too.
  const isEntryPoint = entryPoints.includes(to)
  const groups: FrameGroup[] = []
  let truncated = false
  if (!isEntryPoint) {
    const frames: Frame[] = []
    truncated = !collectFrames(call, { depth: 0, account: to, parent: undefined }, frames, unwrapCall)
    groups.push({ kind: 'transaction', frames })
  }
  const found = readExecuted(input, executed, { depth: isEntryPoint ? 0 : foundDepth, before: 0 })
  groups.push(...found.groups)
  const bundle = isEntryPoint ? toFrame(call, 0, true) : undefined
  if (bundle) bundle.floor = Math.max(bundle.floor, ...executed.map(({ callData }) => callData.end))
  return { groups, bundle, truncated: truncated || found.truncated }
}

/** A group for each operation found by what its entry point told of it. */
function readExecuted(
  input: Uint8Array,
  executed: readonly ExecutedOperation[],
  { depth, before }: { depth: number; before: number },
): { groups: FrameGroup[]; truncated: boolean } {
  let truncated = executed.length > operationsMax
  const groups = executed.slice(0, operationsMax).map(({ sender, callData, endedAt, entryPoint }, at): FrameGroup => {
    const frames: Frame[] = []
    const own: Call = {
      ...operationBody({ ...callData, data: input }),
      caller: sender,
      target: sender,
      isDelegated: false,
    }
    const place: Place = { depth, account: sender, parent: undefined, ranBy: [entryPoint] }
    if (!collectFrames(own, place, frames, unwrapOperation)) truncated = true
    return { kind: 'userOperation', index: before + at, sender, frames, endedAt }
  })
  return { groups, truncated }
}

/** Whether a transaction is a bundle whose operations are read in their order: each has one UserOperationEvent. */
export function isPlainBundle(to: string | null, input: Uint8Array, entryPoints: readonly string[]): boolean {
  if (to === null || !entryPoints.includes(to)) return false
  const selector = readSelector({ data: input, start: 0, end: input.length })
  return selector !== undefined && handleOpsSelectors.includes(selector)
}

function isBundle(call: Call, entryPoints: readonly Address[]): boolean {
  return isPlainBundle(call.target, call.data, entryPoints)
}

function readBundle(call: Call): TransactionFrames {
  const bundle = toFrame(call, 0, true)
  const operations = readOperations(call)
  const groups: FrameGroup[] = []
  let truncated = operations.length > operationsMax
  let room = sharedMax * (call.end - call.start)
  for (const [index, { sender, callData }] of operations.slice(0, operationsMax).entries()) {
    room -= callData.end - callData.start + 32
    if (room < 0) {
      truncated = true
      break
    }
    bundle.floor = Math.max(bundle.floor, callData.end)
    const frames: Frame[] = []
    // The entry point calls the account for its owner: the account stands as caller, as in every call it makes.
    const own: Call = { ...operationBody(callData), caller: sender, target: sender, isDelegated: false }
    const place: Place = { depth: 0, account: sender, parent: undefined, ranBy: [call.target] }
    if (!collectFrames(own, place, frames, unwrapOperation)) truncated = true
    groups.push({ kind: 'userOperation', index, sender, frames })
  }
  return { groups, bundle, truncated }
}

/** Sender and calldata of each user operation; both stand at the same place in every version. */
function readOperations(call: Call): { sender: Address; callData: Slice }[] {
  const args = call.start + 4
  const list = readArray(call, args, args)
  const operations: { sender: Address; callData: Slice }[] = []
  for (let index = 0; list && index < list.count && index <= operationsMax; index++) {
    const tuple = readTuple(call, list.start, list.start + index * 32, 9)
    const sender = tuple === undefined ? undefined : readAddress(call, tuple)
    const callData = tuple === undefined ? undefined : readBytes(call, tuple, tuple + 96)
    if (!sender || !callData) return []
    operations.push({ sender, callData })
  }
  return operations
}

/** Where a call lies: inside which frame, the account whose word its own calls need, and which entry point runs it. */
type Place = { depth: number; account: Address; parent: Frame | undefined; ranBy?: readonly string[] }

/**
 * Adds a call and the calls inside it. Honest calls lie next to each other, each with a word of its own, so together they are
 * never longer than their wrapper; this limit keeps the work linear for hostile input too.
 */
function collectFrames(call: Call, place: Place, frames: Frame[], unwrap: typeof unwrapCall): boolean {
  const { account, depth, parent } = place
  // A call that delegates to itself keeps its caller; another caller is proven only if it is the account itself.
  const proven = parent === undefined || (parent.proven && (call.caller === parent.caller || call.caller === account))
  const frame = { ...toFrame(call, depth, proven), ...(place.ranBy ? { ranBy: place.ranBy } : {}) }
  const base = frames[0]?.depth ?? depth
  frames.push(frame)
  const length = call.end - call.start
  const limit = Math.min(framesMax, Math.floor(length / 32)) + 1
  const calls = unwrap(call, limit)
  if (calls.length > 0 && depth - base >= depthMax) return false
  let room = length
  let complete = true
  for (const inner of calls) {
    room -= inner.end - inner.start + 32
    if (room < 0 || frames.length >= framesMax) return false
    frame.floor = Math.max(frame.floor, inner.end)
    if (!collectFrames(inner, { ...place, depth: depth + 1, parent: frame }, frames, unwrapCall)) complete = false
  }
  return complete
}

function toFrame({ caller, target, data, start, end }: Call, depth: number, proven: boolean): Frame {
  return { caller, target, data, start, end, floor: start, depth, proven }
}
