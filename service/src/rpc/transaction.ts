import type { Hex } from 'viem'
import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import type { RawLog } from './raw.js'
import { answers, malformed, toLogs, toQuantity } from './wire.js'

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

/**
 * Reads a transaction and its receipt; undefined when the node says that it does not know it. A node that does not tell, or
 * tells something else, is a 503: a transaction must not pass for unknown, or a mined one for waiting, by a bad answer.
 */
export async function readTransaction(
  chain: Pick<Chain, 'name' | 'rpc' | 'chainId'>,
  hash: string,
): Promise<ChainTransaction | undefined> {
  const [transaction, mined] = await Promise.all([
    requestRead(chain, (value) => parseTransaction(value, hash), 'eth_getTransactionByHash', [hash]),
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

/** The inputs of a block's transactions, in order, and the block they are of. */
export type BlockInputs = { hash: string; inputs: { transactionHash: string; input: Hex }[] }

/** Reads the inputs of the transactions of a block the chain has reached. A node that does not tell is a 503. */
export async function readBlockInputs(chain: Pick<Chain, 'name' | 'rpc'>, number: number): Promise<BlockInputs> {
  const parse = (value: unknown): BlockInputs => {
    const block = answers.inputs.parse(value)
    if (Number(block.number) !== number) throw malformed('a node answered another block than asked')
    const inputs = block.transactions.map(({ hash, input }) => ({ transactionHash: hash.toLowerCase(), input }))
    return { hash: block.hash.toLowerCase(), inputs }
  }
  return requestRead(chain, parse, 'eth_getBlockByNumber', [toQuantity(number), true])
}

function parseTransaction(value: unknown, hash: string) {
  if (value === null) return undefined
  const transaction = answers.transaction.parse(value)
  if (transaction.hash.toLowerCase() !== hash) throw malformed('a node answered another transaction than asked')
  return transaction
}

function parseMined(value: unknown): ChainTransaction['mined'] {
  if (value === null) return undefined
  const receipt = answers.receipt.parse(value)
  return {
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash.toLowerCase(),
    transactionIndex: Number(receipt.transactionIndex),
    success: receipt.status === undefined || receipt.status === null || Number(receipt.status) === 1,
    logs: toLogs(receipt.logs, receipt.blockHash),
  }
}
