import T from 'typebox'
import Value from 'typebox/value'
import type { Hex } from 'viem'
import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import type { RawLog } from './raw.js'

/** A transaction with what it did; addresses and hashes lower-case. */
export type ChainTransaction = {
  chainId: number
  hash: string
  from: string
  to: string | null
  input: Hex
  /** Undefined while it waits to be mined. */
  mined:
    | { blockNumber: number; blockHash: string; transactionIndex: number; success: boolean; logs: RawLog[] }
    | undefined
}

const HexText = T.String({ pattern: '^0x[0-9a-fA-F]*$' })
const Quantity = T.String({ pattern: '^0x[0-9a-fA-F]{1,13}$' })
const AddressText = T.String({ pattern: '^0x[0-9a-fA-F]{40}$' })
const Hash = T.String({ pattern: '^0x[0-9a-fA-F]{64}$' })

const WireTransaction = T.Object({
  from: AddressText,
  to: T.Optional(T.Union([AddressText, T.Null()])),
  input: HexText,
})

const WireReceipt = T.Object({
  blockNumber: Quantity,
  blockHash: Hash,
  transactionIndex: Quantity,
  status: T.Optional(Quantity),
  logs: T.Array(T.Object({ address: AddressText, topics: T.Array(HexText), data: HexText, logIndex: Quantity })),
})

/** Reads a transaction and its receipt; undefined when the node does not know it. A node that does not tell is a 503. */
export async function readTransaction(chain: Chain, hash: string): Promise<ChainTransaction | undefined> {
  const [transaction, receipt] = await Promise.all([
    requestRead(chain, 'eth_getTransactionByHash', [hash]),
    requestRead(chain, 'eth_getTransactionReceipt', [hash]),
  ])
  if (!Value.Check(WireTransaction, transaction)) return undefined
  return {
    chainId: chain.chainId,
    hash,
    from: transaction.from.toLowerCase(),
    to: transaction.to?.toLowerCase() ?? null,
    input: `0x${transaction.input.slice(2).toLowerCase()}`,
    mined: Value.Check(WireReceipt, receipt) ? toMined(receipt, hash) : undefined,
  }
}

function toMined(receipt: T.Static<typeof WireReceipt>, hash: string): ChainTransaction['mined'] {
  const blockNumber = Number(receipt.blockNumber)
  const transactionIndex = Number(receipt.transactionIndex)
  const logs = receipt.logs.map((log) => ({
    blockNumber,
    logIndex: Number(log.logIndex),
    transactionIndex,
    transactionHash: hash,
    address: log.address.toLowerCase(),
    topics: log.topics.map((topic) => topic.toLowerCase()),
    data: log.data.toLowerCase(),
  }))
  return {
    blockNumber,
    blockHash: receipt.blockHash.toLowerCase(),
    transactionIndex,
    success: receipt.status === undefined || Number(receipt.status) === 1,
    logs,
  }
}
