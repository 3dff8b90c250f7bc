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
  /** Absent where none is asked for or none has come yet: then its calldata decides. */
  evidence?: Evidence
  /**
   * Of the wallets that were asked about, those that have code at the block; a delegation of EIP-7702 is none. Absent
   * where nothing was asked.
   */
  contracts?: readonly string[]
}

export type Header = {
  number: number
  hash: string
  parentHash: string
  /** Unix seconds. */
  timestamp: number
  /** What its bloom says of the block's logs; only where a node was asked, and not where it says nothing. */
  bloom?: Bloom
  /** It has no transaction; only where a node was asked. */
  isEmpty?: true
}

/** A view of a contract. */
export type View = { target: string; data: string }

/** What is kept of a block: its header, the logs of what is watched, and the transactions that matter, all in order. */
export type RawBlock = Header & {
  logs: readonly RawLog[]
  transactions: readonly RawTransaction[]
  /** What contracts answered about the block, by the name of the projection that asked; absent where none did. */
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
