import type { Static } from 'typebox'
import { formatTs } from '../../kernel/clock.js'
import { EarnError, notFound } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { findCursor } from '../../sync/storeCursors.js'
import { formatAddress } from '../catalogue/index.js'
import {
  type ActionTransaction,
  type Activity,
  type ActivitySchema,
  listActionTransactions,
  listInteractionsByTx,
} from '../ledger/index.js'
import { type ActionRow, findAction } from '../plans/index.js'
import { decideActionStatus, isConfirmed, type TransactionState, toSighting } from './actionState.js'
import type { actionDetailSchema } from './schema.js'
import { type AttributionContext, findTransaction } from './transaction.js'

type ActionDetail = Static<ReturnType<typeof actionDetailSchema<typeof ActivitySchema>>>
type Shown = ActionDetail['transactions'][number]

/** The status of an action of the caller's organization. */
export async function getAction(
  ctx: AttributionContext,
  input: { actionId: string },
  { organizationId }: Caller,
): Promise<ActionDetail> {
  const action = await findAction(ctx.db, input.actionId.toLowerCase())
  if (action?.organizationId !== organizationId) throw notFound('no such action')
  const seen = await listActionTransactions(ctx.db, action)
  const confirmedAt = await findConfirmedBlock(ctx, action.chainId)
  const looked = await Promise.all(seen.map((transaction) => lookAt(ctx, action.chainId, transaction, confirmedAt)))
  const transactions = looked.filter((found) => found !== undefined)
  const status = decideActionStatus(
    toSighting(transactions.map(({ state }) => state)),
    action.validUntil,
    ctx.clock.now(),
  )
  return {
    actionId: action.id,
    kind: action.kind,
    status,
    opportunityId: action.opportunityId,
    chainId: action.chainId,
    walletAddress: formatAddress(action.wallet),
    distributorId: action.distributorId,
    createdAt: formatTs(action.createdAt),
    validUntil: formatTs(action.validUntil),
    transactions,
    interactions: await listEntries(ctx, action, transactions),
  }
}

/** Whether a block is confirmed, by what the chain's watcher has seen. */
async function findConfirmedBlock(ctx: AttributionContext, chainId: number): Promise<(number: number) => boolean> {
  const cursor = await findCursor(ctx.db, chainId)
  const confirmations = ctx.catalogue.current().chains.get(chainId)?.confirmations ?? 1
  return (number) => isConfirmed(number, cursor?.headNumber ?? -1, confirmations)
}

/** Where a transaction stands; one the chain took back is asked for, and undefined where nobody has sent it again. */
async function lookAt(
  ctx: AttributionContext,
  chainId: number,
  { transactionHash: txHash, blockNumber, retracted }: ActionTransaction,
  isConfirmedBlock: (number: number) => boolean,
): Promise<Shown | undefined> {
  if (!retracted) return { txHash, blockNumber, state: isConfirmedBlock(blockNumber) ? 'confirmed' : 'mined' }
  try {
    const found = await findTransaction(ctx, txHash, chainId)
    if (!found) return undefined
    const state: TransactionState = !found.mined ? 'pending' : found.mined.success ? 'mined' : 'reverted'
    return { txHash, blockNumber: found.mined?.blockNumber ?? null, state }
  } catch (error) {
    if (!(error instanceof EarnError) || error.code !== 503) throw error
    // It was sent once; while nobody can be asked, it waits.
    return { txHash, blockNumber: null, state: 'pending' }
  }
}

/** Entries of the action's wallet and vault: a transaction may carry the calls of others as well. */
async function listEntries(
  ctx: AttributionContext,
  { chainId, opportunityId, wallet }: ActionRow,
  transactions: readonly Shown[],
): Promise<Activity[]> {
  const confirmed = transactions.filter(({ state }) => state === 'confirmed')
  const found = await Promise.all(confirmed.map(({ txHash }) => listInteractionsByTx(ctx.db, txHash, chainId)))
  const own = formatAddress(wallet)
  return found.flat().filter((entry) => entry.opportunityId === opportunityId && entry.walletAddress === own)
}
