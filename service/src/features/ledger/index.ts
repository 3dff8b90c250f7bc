import type { Queryable } from '../../postgres/pool.js'
import { type Activity, toActivity } from './activity.js'
import { listActivity } from './storePages.js'

/**
 * The ledger: verified deposits and withdrawals of registered distributors, and the transactions looked at on the way.
 * Owns `interactions` with their counts, `retractions`, `price_choices` and `transaction_attributions`, the projection
 * that derives them, and the operations that list them. Verified is never stored: it follows from the
 * depth of the entry's block.
 */
export { type Activity, ActivitySchema } from './activity.js'
export { ledgerOperations } from './operations.js'
export { type LedgerRows, ledger } from './projection.js'
export { listTransactionAttributions, type RecordedAttribution } from './storeLedger.js'
export { fillLatePrices } from './storePrices.js'

/** Verified entries of one transaction as served, in the order of its logs; on one chain or on any. */
export async function listInteractionsByTx(db: Queryable, txHash: string, chainId?: number): Promise<Activity[]> {
  const everything = { page: 1, limit: 1_000, offset: 0 }
  const filter = { transactionHash: txHash.toLowerCase(), chainId }
  const { rows } = await listActivity(db, filter, everything, { by: 'date', order: 'asc' })
  return rows.map(toActivity)
}
