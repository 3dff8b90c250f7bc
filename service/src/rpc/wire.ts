import T, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Hex } from 'viem'
import { OutboundError } from '../kernel/outbound.js'
import { Nullable } from '../kernel/wire.js'
import { readBloom } from './bloom.js'
import type { Header, RawLog, RawTransaction } from './raw.js'

/** The response to one kind of request. The schema checks the shape; the caller compares it with the request. */
export type Answer<T> = {
  /** The answer; anything else is a failure of the node. */
  parse(value: unknown): T
  /** The answer, or undefined for anything else. */
  find(value: unknown): T | undefined
}

function answer<S extends TSchema>(name: string, schema: S): Answer<Static<S>> {
  const validator = Compile(schema)
  const matches = (value: unknown): value is Static<S> => validator.Check(value)
  return {
    parse: (value) => {
      if (matches(value)) return value
      const [first] = validator.Errors(value)
      throw malformed(`a node gave a malformed ${name}: ${first?.instancePath || first?.message}`)
    },
    find: (value) => (matches(value) ? value : undefined),
  }
}

/** A failure of a node that answered in time. */
export function malformed(message: string): OutboundError {
  return new OutboundError('malformed', message)
}

/** A quantity that a number holds exactly: up to 2^53 − 1. */
const Quantity = T.String({ pattern: '^0x(?:[01][0-9a-fA-F]{13}|[0-9a-fA-F]{1,13})$' })
/** Up to 2^256 − 1; some nodes write 0 as `0x`. */
const BigQuantity = T.String({ pattern: '^0x[0-9a-fA-F]{0,64}$' })
const Amount = T.String({ pattern: '^0x[0-9a-fA-F]{1,64}$' })
const Hash = T.String({ pattern: '^0x[0-9a-fA-F]{64}$' })
const AddressText = T.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const Bytes = T.Unsafe<Hex>(T.String({ pattern: '^0x(?:[0-9a-fA-F]{2})*$' }))

const HeaderAnswer = T.Object({
  number: Quantity,
  hash: Hash,
  parentHash: Hash,
  timestamp: Quantity,
  /** Chains that make no blooms, or no such roots, write anything here. */
  logsBloom: T.Optional(T.Unknown()),
  transactionsRoot: T.Optional(T.Unknown()),
})

const LogAnswer = T.Object({
  blockNumber: Quantity,
  blockHash: Hash,
  logIndex: Quantity,
  transactionIndex: Quantity,
  transactionHash: Hash,
  address: AddressText,
  topics: T.Array(Hash, { maxItems: 4 }),
  data: Bytes,
  removed: T.Optional(T.Unknown()),
})
type LogAnswer = Static<typeof LogAnswer>

/** The place in a block is null while the transaction waits. */
const TransactionAnswer = T.Object({
  hash: Hash,
  from: AddressText,
  to: T.Optional(Nullable(AddressText)),
  input: Bytes,
  blockHash: T.Optional(Nullable(Hash)),
  blockNumber: T.Optional(Nullable(Quantity)),
  transactionIndex: T.Optional(Nullable(Quantity)),
})

const MinedAnswer = T.Object({
  ...TransactionAnswer.properties,
  blockHash: Hash,
  blockNumber: Quantity,
  transactionIndex: Quantity,
})

const ReceiptAnswer = T.Object({
  blockNumber: Quantity,
  blockHash: Hash,
  transactionIndex: Quantity,
  /** Absent, or null, before the Byzantium fork. */
  status: T.Optional(Nullable(Quantity)),
  logs: T.Array(LogAnswer),
})

/** The cost of a transaction. */
const PaidAnswer = T.Object({
  transactionHash: Hash,
  blockHash: Hash,
  blockNumber: Quantity,
  status: T.Optional(Nullable(Quantity)),
  gasUsed: BigQuantity,
  effectiveGasPrice: T.Optional(Nullable(BigQuantity)),
  /** The cost of posting it to another chain, beyond its gas (OP Stack, Scroll). */
  l1Fee: T.Optional(Nullable(BigQuantity)),
})

/** A transaction of a block, of which only what its sender said is used. */
const SentAnswer = T.Object({
  hash: Hash,
  from: AddressText,
  to: T.Optional(Nullable(AddressText)),
  nonce: Quantity,
  input: Bytes,
  value: BigQuantity,
  gas: BigQuantity,
  gasPrice: T.Optional(Nullable(BigQuantity)),
  maxFeePerGas: T.Optional(Nullable(BigQuantity)),
  maxPriorityFeePerGas: T.Optional(Nullable(BigQuantity)),
})

const FeeHistoryAnswer = T.Object({
  baseFeePerGas: T.Array(BigQuantity, { minItems: 1 }),
  reward: T.Optional(Nullable(T.Array(T.Array(BigQuantity)))),
})

const SimulatedCall = T.Object({
  status: BigQuantity,
  returnData: T.Optional(Bytes),
  gasUsed: BigQuantity,
  logs: T.Optional(T.Array(T.Object({ address: AddressText, topics: T.Array(Bytes), data: Bytes }))),
  error: T.Optional(T.Object({ data: T.Optional(Nullable(Bytes)) })),
})
export type SimulatedCall = Static<typeof SimulatedCall>

/** One schema for each answer of a node, compiled once. */
export const answers = {
  /** The envelope of every response; nodes deviate in all of its members. */
  reply: answer(
    'reply',
    T.Object({ id: T.Optional(T.Unknown()), result: T.Optional(T.Unknown()), error: T.Optional(T.Unknown()) }),
  ),
  /** The error of a reply. */
  refusal: answer(
    'refusal',
    T.Object({ code: T.Optional(T.Unknown()), message: T.Optional(T.Unknown()), data: T.Optional(T.Unknown()) }),
  ),
  /** `eth_chainId`. */
  quantity: answer('quantity', Quantity),
  /** `eth_estimateGas`. */
  gas: answer('amount of gas', Amount),
  /** `eth_getBalance`. */
  balance: answer('balance', Amount),
  /** `eth_call`, `eth_getCode`. */
  bytes: answer('byte string', Bytes),
  /** `eth_getBlockByNumber`. */
  header: answer('block', HeaderAnswer),
  /** `eth_getBlockByNumber`, of which only the hash is used; null above the head. */
  blockHash: answer('block', Nullable(T.Object({ hash: Hash }))),
  /** `eth_getBlockByHash` with its transactions, of which only those that are wanted are parsed. */
  block: answer('block', T.Object({ hash: Hash, transactions: T.Array(T.Object({ hash: Hash })) })),
  /** `eth_getLogs`. */
  logs: answer('list of logs', T.Array(LogAnswer)),
  /** `eth_getTransactionByHash`. */
  transaction: answer('transaction', TransactionAnswer),
  mined: answer('mined transaction', MinedAnswer),
  /** `eth_getTransactionReceipt`. */
  receipt: answer('receipt', ReceiptAnswer),
  /** `eth_getTransactionReceipt`, of which only what it cost is used. */
  paid: answer('receipt', PaidAnswer),
  /** `eth_feeHistory`. */
  feeHistory: answer('fee history', FeeHistoryAnswer),
  /** `eth_getBlockByNumber` with its transactions, of which only who sent them is used. */
  senders: answer('block', T.Object({ transactions: T.Array(T.Object({ from: AddressText, nonce: Quantity })) })),
  sent: answer('transaction', SentAnswer),
  /** `eth_getBlockByNumber` with its transactions, of which only the inputs are used. */
  inputs: answer(
    'block',
    T.Object({
      ...HeaderAnswer.properties,
      transactions: T.Array(T.Object({ hash: Hash, input: Bytes })),
    }),
  ),
  /** `eth_getBlockReceipts`, of which only the logs are used. */
  receipts: answer('list of receipts', T.Array(T.Object({ logs: T.Array(LogAnswer) }))),
  /** `eth_simulateV1`. */
  simulation: answer('simulation', T.Array(T.Object({ calls: T.Array(SimulatedCall) }), { minItems: 1 })),
} as const

/** The root of a tree without leaves: the block has no transaction. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/** A block as we keep it. */
export function toHeader(header: Static<typeof HeaderAnswer>): Header {
  const bloom = readBloom(header.logsBloom)
  return {
    number: Number(header.number),
    hash: header.hash.toLowerCase(),
    parentHash: header.parentHash.toLowerCase(),
    timestamp: Number(header.timestamp),
    ...(bloom ? { bloom } : {}),
    ...(header.transactionsRoot === emptyRoot ? { isEmpty: true as const } : {}),
  }
}

/** Logs as we keep them, in order. With a block hash: each has to be of that block. */
export function toLogs(logs: readonly LogAnswer[], blockHash?: string): RawLog[] {
  for (const log of logs) {
    if (blockHash !== undefined && log.blockHash !== blockHash)
      throw malformed('a node gave logs of another block than asked')
    if (log.removed === true) throw malformed('a node gave logs that a reorganisation removed')
  }
  return logs.map(toLog).sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

function toLog(log: LogAnswer): RawLog {
  return {
    blockNumber: Number(log.blockNumber),
    logIndex: Number(log.logIndex),
    transactionIndex: Number(log.transactionIndex),
    transactionHash: log.transactionHash.toLowerCase(),
    address: log.address.toLowerCase(),
    topics: log.topics.map((topic) => topic.toLowerCase()),
    data: log.data.toLowerCase(),
  }
}

/** The block hashes logs name, by block number; logs of one number have to agree on one. */
export function toBlockHashes(logs: readonly LogAnswer[]): Map<number, string> {
  const hashes = new Map<number, string>()
  for (const log of logs) {
    const number = Number(log.blockNumber)
    const hash = log.blockHash.toLowerCase()
    if ((hashes.get(number) ?? hash) !== hash) throw malformed('a node gave logs of two blocks of one number')
    hashes.set(number, hash)
  }
  return hashes
}

/** A mined transaction as we keep it. */
export function toTransaction(transaction: Static<typeof MinedAnswer>): RawTransaction {
  return {
    blockNumber: Number(transaction.blockNumber),
    transactionIndex: Number(transaction.transactionIndex),
    hash: transaction.hash.toLowerCase(),
    from: transaction.from.toLowerCase(),
    to: transaction.to?.toLowerCase() ?? null,
    input: transaction.input.toLowerCase(),
  }
}

/** A number as a node takes it. */
export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`
}
