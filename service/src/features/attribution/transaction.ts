import type { Address, Hex } from 'viem'
import { type Attribution, attribute } from '../../chain/attribution/index.js'
import type { ChainContext } from '../../chain/chains.js'
import { findRawTransaction, listRawLogs } from '../../chain/storeRaw.js'
import { listSignersOn } from '../../chain/storeSigners.js'
import { type ChainTransaction, readTransaction } from '../../chain/transaction.js'
import { knownEntryPoints } from '../../derive/index.js'
import { invalidArgument, unavailable } from '../../kernel/errors.js'
import { type CatalogueContext, type ChainRecord, findDistributor } from '../catalogue/index.js'

export type AttributionContext = ChainContext & CatalogueContext

/** The chain, if this installation can read it; one it only describes is not supported: a 400. */
export function getSupportedChain(ctx: AttributionContext, chainId: number): ChainRecord {
  const chain = ctx.catalogue.current().chains.get(chainId)
  if (!chain || !ctx.chains.has(chainId)) throw invalidArgument('this chain is not supported', { context: { chainId } })
  return chain
}

/** A transaction of the raw store, where it holds one: it succeeded, or it would have left no fact. */
export async function findStoredTransaction(
  ctx: AttributionContext,
  hash: string,
  chainId?: number,
): Promise<ChainTransaction | undefined> {
  const found = await findRawTransaction(ctx.db, hash, chainId)
  if (!found) return undefined
  const { blockNumber, blockHash, transactionIndex, from, to } = found
  const logs = await listRawLogs(ctx.db, found.chainId, blockNumber, hash)
  const mined = { blockNumber, blockHash, transactionIndex, success: true, logs }
  return { chainId: found.chainId, hash, from, to, input: found.input as Hex, mined }
}

/** A transaction of a chain: our own store first, then the chain, whose silence is a 503. Undefined when unknown. */
export async function findTransaction(
  ctx: AttributionContext,
  hash: string,
  chainId: number,
): Promise<ChainTransaction | undefined> {
  const stored = await findStoredTransaction(ctx, hash, chainId)
  if (stored) return stored
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable('this installation has no access to this chain')
  return readTransaction(chain, hash)
}

/** Everything the calldata of a transaction says about who brought it, judged with our keys, retired ones included. */
export async function judgeTransaction(ctx: AttributionContext, transaction: ChainTransaction): Promise<Attribution> {
  const { chainId, from, to, input } = transaction
  const signers = await listSignersOn(ctx.db, chainId)
  const configured = ctx.catalogue.current().chains.get(chainId)?.entryPoints ?? []
  return attribute({
    chainId,
    from: from as Address,
    to: to as Address | null,
    input,
    signers: signers.map(({ address }) => ({ address: address as Address })),
    entryPoints: [...knownEntryPoints, ...configured].map((address) => address.toLowerCase() as Address),
  })
}

export function isRegistered(ctx: AttributionContext, code: string): boolean {
  return findDistributor(ctx.catalogue.current(), code) !== undefined
}
