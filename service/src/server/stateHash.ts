import type { Queryable } from '../postgres/pool.js'
import { hashTables } from '../sync/storeState.js'
import { listProjections } from './projections.js'

/**
 * SHA-256 of everything derived for a chain that is not a price: ledger entries with raw amounts and attribution, balances,
 * lots, requests and used signatures, and of each table of a projection that does not say why it is left out. Equal state
 * gives an equal hash, on any database.
 */
export function computeStateHash(db: Queryable, chainId: number): Promise<string> {
  const tables = listProjections().derived.flatMap((projection) => projection.tables)
  return hashTables(db, chainId, tables)
}
