import type { Hex } from 'viem'
import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import type { RawLog } from './raw.js'
import { answers, toLogs } from './wire.js'

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

/** Reads a transaction and its receipt; undefined when the node does not know it. A node that does not tell is a 503. */
export async function readTransaction(chain: Chain, hash: string): Promise<ChainTransaction | undefined> {
  const [transaction, mined] = await Promise.all([
    requestRead(chain, answers.transaction.find, 'eth_getTransactionByHash', [hash]),
    requestRead(chain, parseMined, 'eth_getTransactionReceipt', [hash]),
  ])
  if (!transaction) return undefined
  return {
    chainId: chain.chainId,
    hash,
    from: transaction.from.toLowerCase(),
    to: transaction.to?.toLowerCase() ?? null,
    input: `0x${transaction.input.slice(2).toLowerCase()}`,
    mined,
  }
}

function parseMined(value: unknown): ChainTransaction['mined'] {
  const receipt = answers.receipt.find(value)
  return (
    receipt && {
      blockNumber: Number(receipt.blockNumber),
      blockHash: receipt.blockHash.toLowerCase(),
      transactionIndex: Number(receipt.transactionIndex),
      success: receipt.status === undefined || Number(receipt.status) === 1,
      logs: toLogs(receipt.logs, receipt.blockHash),
    }
  )
}
