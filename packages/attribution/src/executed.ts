import type { Address } from 'viem'
import { readUint } from './abi.js'
import { concatBytes, formatUtf8, hasBytesAt } from './bytes.js'
import { keccak256, parseHex } from './calldata.js'
import type { Span } from './erc8021.js'

/** An event of an EntryPoint about an operation it ran; addresses and hashes lower-case. */
export type OperationEvent = {
  logIndex: number
  entryPoint: string
  hash: string
  sender: string
  nonce: bigint
  success: boolean
}

/** An operation an EntryPoint ran, and where its calldata stands in the transaction's input. */
export type ExecutedOperation = { sender: Address; callData: Span; endedAt: number; entryPoint: string }

/** Times the length of the input that is hashed at most, so that places made to look like operations cost little. */
const hashedMax = 16

/** First word of initCode's offset in an operation as every encoder writes it: of 0.6, and of 0.7 and 0.8. */
const usualOffsets = [11, 9].map((words) => (words * 32).toString(16).padStart(64, '0'))

/** Whether calldata may hold the encoded form of a user operation: a cheap look that spares asking for most receipts. */
export function mayHoldOperation(input: string): boolean {
  return usualOffsets.some((offset) => {
    for (let at = input.indexOf(offset); at >= 0; at = input.indexOf(offset, at + 1))
      // Before it stand the nonce and, with twelve empty bytes, the sender.
      if (at >= 128 && input.startsWith('0'.repeat(24), at - 128)) return true
    return false
  })
}

/**
 * The operations of `events` that succeeded and whose encoded form is in the input: their hash equals that of the event, so the
 * EntryPoint ran exactly these, through any contract. The shortest are tried first: so forged operations in the input do not
 * use up the work for ordinary ones.
 */
export function findExecuted(
  input: Uint8Array,
  events: readonly OperationEvent[],
  chainId: number,
): ExecutedOperation[] {
  const view = Buffer.from(input.buffer, input.byteOffset, input.length)
  const candidates = events
    .flatMap((event) => (event.success ? listCandidates(view, event) : []))
    .sort((a, b) => a.length - b.length)
  const found = new Map<OperationEvent, Span>()
  let room = hashedMax * input.length
  for (const { event, wanted, operation, length } of candidates) {
    if (found.has(event)) continue
    room -= length
    if (room < 0) break
    if (hashesOf(operation, event, chainId).some((hash) => hasBytesAt(hash, 0, wanted)))
      found.set(event, operation.callData)
  }
  return events.flatMap((event) => {
    const callData = found.get(event)
    const { logIndex: endedAt, entryPoint } = event
    return callData ? [{ sender: event.sender as Address, callData, endedAt, entryPoint }] : []
  })
}

type Candidate = { event: OperationEvent; wanted: Uint8Array; operation: Operation; length: number }

/** The places of the input that may hold an operation, and how many bytes it takes to hash each. */
function listCandidates(data: Buffer, event: OperationEvent): Candidate[] {
  const head = Buffer.concat([word(BigInt(event.sender)), word(event.nonce)])
  const wanted = parseHex(event.hash)
  const candidates: Candidate[] = []
  for (let at = wanted ? data.indexOf(head) : -1; wanted && at >= 0; at = data.indexOf(head, at + 1)) {
    for (const words of [9, 11] as const) {
      const operation = readOperation(data, at, words)
      if (!operation) continue
      const parts = [operation.initCode, operation.callData, operation.paymaster]
      const length = parts.reduce((sum, { start, end }) => sum + end - start, words * 32)
      candidates.push({ event, wanted, operation, length })
    }
  }
  return candidates
}

export type Operation = {
  data: Uint8Array
  start: number
  words: 9 | 11
  initCode: Span
  callData: Span
  paymaster: Span
}

/** The operation whose head begins at a place, with 11 words (0.6) or 9 (0.7 and later); undefined when it does not fit. */
export function readOperation(data: Uint8Array, start: number, words: 9 | 11): Operation | undefined {
  const slice = { data, start, end: data.length }
  if (start + words * 32 > data.length) return undefined
  const read = (index: number): Span | undefined => {
    const offset = readUint(slice, start + index * 32)
    const length = offset === undefined ? undefined : readUint(slice, start + offset)
    if (offset === undefined || length === undefined) return undefined
    const from = start + offset + 32
    return from + length > data.length ? undefined : { start: from, end: from + length }
  }
  const [initCode, callData, paymaster] = [read(2), read(3), read(words - 2)]
  return initCode && callData && paymaster && { data, start, words, initCode, callData, paymaster }
}

const typeHash8 = keccak256(
  formatUtf8(
    'PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)',
  ),
)
const domainType8 = keccak256(
  formatUtf8('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
)
const [name8, version8] = [keccak256(formatUtf8('ERC4337')), keccak256(formatUtf8('1'))]

/** The hashes the versions of an EntryPoint give an operation of this form. */
export function hashesOf(operation: Operation, { entryPoint }: OperationEvent, chainId: number): Uint8Array[] {
  const { data, start, words } = operation
  const hashed = ({ start, end }: Span) => keccak256(data.subarray(start, end))
  const body = concatBytes(
    data.subarray(start, start + 64),
    hashed(operation.initCode),
    hashed(operation.callData),
    data.subarray(start + 128, start + (words - 2) * 32),
    hashed(operation.paymaster),
  )
  const [place, chain] = [word(BigInt(entryPoint)), word(BigInt(chainId))]
  const plain = keccak256(concatBytes(keccak256(body), place, chain))
  if (words === 11) return [plain]
  const domain = keccak256(concatBytes(domainType8, name8, version8, chain, place))
  const struct = keccak256(concatBytes(typeHash8, body))
  return [plain, keccak256(concatBytes(Uint8Array.of(0x19, 0x01), domain, struct))]
}

function word(value: bigint): Uint8Array {
  return parseHex(`0x${value.toString(16).padStart(64, '0')}`) ?? new Uint8Array(32)
}

/** UserOperationEvent and BeforeExecution, of every version. */
export const operationTopics = {
  ended: '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f',
  execution: '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972',
} as const

/** Reads a UserOperationEvent; undefined when the log is another or has another shape. */
export function decodeOperationEvent(log: {
  logIndex: number
  address: string
  topics: readonly string[]
  data: string
}): OperationEvent | undefined {
  const [first, hash, sender] = log.topics
  if (first !== operationTopics.ended || hash === undefined || sender === undefined) return undefined
  if (log.topics.length !== 4 || log.data.length !== 2 + 4 * 64) return undefined
  return {
    logIndex: log.logIndex,
    entryPoint: log.address.toLowerCase(),
    hash,
    sender: `0x${sender.slice(26)}`,
    nonce: BigInt(log.data.slice(0, 66)),
    success: BigInt(`0x${log.data.slice(66, 130)}`) !== 0n,
  }
}
