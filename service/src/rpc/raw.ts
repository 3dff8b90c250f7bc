import type { Evidence } from './callPaths.js'

/** The 2,048 bits of a header's bloom: three for each address and topic of the block's logs, so none of them is without. */
export type Bloom = Uint8Array

/** A log as a node gives it; addresses and hashes lower-case. */
export type RawLog = {
  blockNumber: number
  logIndex: number
  transactionIndex: number
  transactionHash: string
  address: string
  topics: readonly string[]
  data: string
}

/** A transaction whose calldata may say who brought it. */
export type RawTransaction = {
  blockNumber: number
  transactionIndex: number
  hash: string
  from: string
  to: string | null
  input: string
  /** Absent if no trace is needed or has arrived yet: then calldata decides. */
  evidence?: Evidence
  /**
   * The wallets with code at the block, among those that were read; an EIP-7702 delegation is not code. Absent if no
   * wallet was read.
   */
  contracts?: readonly string[]
}

export type Header = {
  number: number
  hash: string
  parentHash: string
  /** Unix seconds. */
  timestamp: number
  /** The bloom of the block's logs; present only in headers read from a node, and absent if the bloom is not usable. */
  bloom?: Bloom
  /** It has no transaction; only where a node was asked. */
  isEmpty?: true
}

/** The stored part of a block: its header, the watched logs and their transactions, in order. */
export type RawBlock = Header & {
  logs: readonly RawLog[]
  transactions: readonly RawTransaction[]
  /** Observations of the block, by the name of the projection; absent if no projection has any. */
  observations?: ReadonlyMap<string, readonly unknown[]>
}

/** Puts ordered headers, logs and transactions together. */
export function assembleBlocks(
  headers: readonly Header[],
  logs: readonly RawLog[],
  transactions: readonly RawTransaction[],
): RawBlock[] {
  const blocks = headers.map((header) => ({ ...header, logs: [] as RawLog[], transactions: [] as RawTransaction[] }))
  const byNumber = new Map(blocks.map((block) => [block.number, block]))
  for (const log of logs) byNumber.get(log.blockNumber)?.logs.push(log)
  for (const transaction of transactions) byNumber.get(transaction.blockNumber)?.transactions.push(transaction)
  return blocks
}
