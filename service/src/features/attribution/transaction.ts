import { decodeOperationEvent, type OperationEvent, standardEntryPoints } from '@openearn/attribution'
import type { Address, Hex } from 'viem'
import { EarnError, invalidArgument, unavailable } from '../../kernel/errors.js'
import type { ChainContext } from '../../rpc/chains.js'
import { type ChainTransaction, readTransaction } from '../../rpc/transaction.js'
import { findCursor } from '../../sync/storeCursors.js'
import { findRawTransaction, listRawLogs } from '../../sync/storeRaw.js'
import { type CatalogueContext, type ChainRecord, findDistributor, listSigners } from '../catalogue/index.js'
import type { Judge, KeptTransaction } from './judge.js'
import type { Subject } from './judgement.js'
import type { Verdict } from './judgeThread.js'

export type AttributionContext = ChainContext & CatalogueContext

export type JudgeContext = {
  readonly judge: Judge
  /** Told of the milliseconds of computing a request caused, which its caller pays for. */
  readonly onWork?: (ms: number) => void
}

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

/** The result of a read, or undefined if the chain cannot be read now. */
export async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof EarnError) || error.code !== 503) throw error
    return undefined
  }
}

/** A transaction after inspection: its members, calldata apart, and the verdict on its calldata. */
export type LookedAt = { transaction: KeptTransaction; verdict: Verdict }

/**
 * Reads a transaction and judges it, with our keys, retired ones included. Without a chain our own store is asked alone.
 * The verdict on a final transaction is kept, so that it is neither read nor judged again for a while. Undefined when
 * nobody knows the transaction.
 */
export async function lookAt(
  ctx: AttributionContext & JudgeContext,
  input: { hash: string; chainId: number | undefined; withEvents?: boolean },
): Promise<LookedAt | undefined> {
  const { hash, chainId, withEvents = false } = input
  const stored = chainId === undefined ? await findStoredTransaction(ctx, hash) : undefined
  const known = chainId ?? stored?.chainId
  if (known === undefined) return undefined
  const against = await listWhatCounts(ctx, known)
  const mark = JSON.stringify(against)
  const name = `${known}:${hash}:${withEvents}`
  const kept = ctx.judge.kept.find(name)
  if (kept?.mark === mark) return kept
  // Who asks while another's is looked at waits for that one, and does not pay for it.
  return ctx.judge.once(`${name}:${mark}`, async () => {
    const transaction = stored ?? (await findTransaction(ctx, hash, known))
    if (!transaction) return undefined
    const { from, to, input: calldata, mined } = transaction
    const { verdict, workMs } = await ctx.judge.judge({
      chainId: known,
      from: from as Address,
      to: to as Address | null,
      input: calldata,
      ...against,
      operations: listOperations(transaction),
      logs: withEvents ? (mined?.logs ?? []) : [],
    })
    ctx.onWork?.(workMs)
    const looked = { transaction: toKept(transaction), verdict }
    if (verdict.status !== 'busy' && (await isFinal(ctx, transaction))) ctx.judge.kept.keep(name, { mark, ...looked })
    return looked
  })
}

/** The keys and entry points transactions of a chain are held against. */
export async function listWhatCounts(
  ctx: AttributionContext,
  chainId: number,
): Promise<Pick<Subject, 'signers' | 'entryPoints'>> {
  const signers = await listSigners(ctx.db, chainId)
  const configured = ctx.catalogue.current().chains.get(chainId)?.entryPoints ?? []
  return {
    signers: signers.map(({ address }) => address as Address),
    entryPoints: [...standardEntryPoints, ...configured].map((address) => address.toLowerCase() as Address),
  }
}

/** Events of EntryPoints about the operations a transaction ran. */
export function listOperations({ mined }: ChainTransaction): OperationEvent[] {
  return (mined?.logs ?? []).flatMap((log) => decodeOperationEvent(log) ?? [])
}

function toKept({ chainId, hash, mined }: ChainTransaction): KeptTransaction {
  if (!mined) return { chainId, hash, mined: undefined }
  const { blockNumber, blockHash, transactionIndex, success } = mined
  return { chainId, hash, mined: { blockNumber, blockHash, transactionIndex, success } }
}

async function isFinal(ctx: AttributionContext, { chainId, mined }: ChainTransaction): Promise<boolean> {
  if (!mined) return false
  const finalized = (await findCursor(ctx.db, chainId))?.finalizedNumber ?? -1
  return mined.blockNumber <= finalized
}

/** Whether a code is of a distributor of ours, now. */
export function hasDistributor(ctx: AttributionContext, code: string): boolean {
  return findDistributor(ctx.catalogue.current(), code) !== undefined
}
