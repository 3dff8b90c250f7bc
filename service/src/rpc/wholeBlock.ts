import type { Chain } from './chains.js'
import { requestRead } from './multicall.js'
import { malformed, toQuantity } from './wire.js'

/** Members as a node tells them; only their hashes say whether they are a fact. */
export type Told = Readonly<Record<string, unknown>>

/** All that a block commits to of its header, transactions and receipts, in their order. */
export type WholeBlock = { header: Told; transactions: readonly Told[]; receipts: readonly Told[] }

/** Reads a block with its transactions and receipts. A node that does not tell, or tells of another block, is a 503. */
export async function readWholeBlock(
  chain: Pick<Chain, 'name' | 'rpc'>,
  { number, hash }: { number: number; hash: string },
): Promise<WholeBlock> {
  const parseBlock = (value: unknown) => {
    const [header] = listOf([value])
    if (header === undefined || lower(header.hash) !== hash) throw malformed('a node answered another block than asked')
    return { header, transactions: listOf(header.transactions) }
  }
  const parseReceipts = (value: unknown) => {
    const receipts = listOf(value)
    if (receipts.some(({ blockHash }) => lower(blockHash) !== hash))
      throw malformed('a node answered receipts of another block than asked')
    return receipts
  }
  const [{ header, transactions }, receipts] = await Promise.all([
    requestRead(chain, parseBlock, 'eth_getBlockByHash', [hash, true]),
    requestRead(chain, parseReceipts, 'eth_getBlockReceipts', [toQuantity(number)]),
  ])
  return { header, transactions, receipts }
}

const lower = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined)

function listOf(value: unknown): readonly Told[] {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'object' || each === null))
    throw malformed('a node answered no block')
  return value
}
