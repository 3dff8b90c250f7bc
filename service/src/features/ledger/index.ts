/**
 * The ledger: verified deposits and withdrawals of registered distributors, and the transactions looked at on the way.
 * Owns `interactions` with their counts, `retractions`, `price_choices` and `transaction_attributions`, `ledger_told` with
 * `ledger_changes`, the projection
 * that derives them, and the operations that list them. Verified is never stored: it follows from the
 * depth of the entry's block.
 */
import type { Queryable } from '../../postgres/pool.js'
import { type ClaimedRequest, listClaimedRequests } from '../positions/index.js'
import { type Activity, toActivity } from './activity.js'
import { orderByRequest } from './claimOrder.js'
import { listTransactionAttributions } from './storeLedger.js'
import { listActivity } from './storePages.js'

export { type Activity, ActivitySchema } from './activity.js'
export type { LedgerContext } from './listInteractions.js'
export { ledgerOperations } from './operations.js'
export { type LedgerRows, ledger } from './projection.js'
export { type ActionTransaction, listActionTransactions } from './storeActionTransactions.js'
export { type Flows, sumFlowsOf } from './storeFlows.js'
export { listTransactionAttributions, type RecordedAttribution, transactionAttributionsOf } from './storeLedger.js'
export { fillLatePrices, settleAmounts } from './storePrices.js'
export { tellEntries } from './tellEntries.js'

/** Verified entries of one transaction as served, oldest request first, else in the order of its logs; on one chain or on any. */
export async function listInteractionsByTx(db: Queryable, txHash: string, chainId?: number): Promise<Activity[]> {
  const everything = { page: 1, limit: 1_000, offset: 0 }
  const filter = { transactionHash: txHash.toLowerCase(), chainId }
  const { rows } = await listActivity(db, filter, everything, { by: 'date', order: 'asc' })
  const entries = rows.map(toActivity)
  const claimed = await listClaimed(db, entries)
  if (claimed.length === 0) return entries
  const watched = claimed.some(({ distributorId }) => distributorId === null)
    ? await listTransactionAttributions(db, txHash, chainId)
    : []
  return orderByRequest(entries, claimed, watched.find(({ retracted }) => !retracted)?.distributorId ?? undefined)
}

/** The requests that the events of some entries claimed. */
async function listClaimed(db: Queryable, entries: readonly Activity[]): Promise<ClaimedRequest[]> {
  const blocks = new Map(entries.map((entry) => [`${entry.chainId}:${entry.blockNumber}`, entry]))
  const logIndexes = [...new Set(entries.map(({ logIndex }) => logIndex))]
  const found = await Promise.all(
    [...blocks.values()].map((block) => listClaimedRequests(db, { ...block, logIndexes })),
  )
  return found.flat()
}
