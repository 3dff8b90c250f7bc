/**
 * Attributed TVL, LPs and USD-days of a distributor over time. Owns `attributed_steps`, `lp_edges` and `lp_steps`, the projection that
 * derives them from confirmed blocks, `usd_days` with its sums and marks, the job that counts them ahead, `audits`, and the
 * operations that read them.
 */
import type { Queryable } from '../../postgres/pool.js'
import { countActiveLps as countOf } from './storeLps.js'
import { listSeriesVaults } from './storeVaults.js'

export { runUsdDays } from './jobUsdDays.js'
export { metricsOperations } from './operations.js'
export { metrics } from './projection.js'
export { readRange } from './range.js'
export { type RecomputedBucket, recomputeDistributorLps, recomputeMetrics, recomputeVaultLps } from './recompute.js'
export { type FindingCode, findingCodes, type KeptFinding, listUnaudited, recordAudit } from './storeAudits.js'
export { listFloorsAt } from './storeVaults.js'
export { listCountedReach, readUsdDays } from './usdDays.js'

/**
 * How many LPs vaults had by the end of the last whole 900 s at or before instants, and have now where one is undefined;
 * null where nothing is known of a vault by then.
 */
export async function countActiveLps(
  db: Queryable,
  vaultIds: readonly number[],
  instants: readonly (Date | undefined)[],
): Promise<ReadonlyMap<number, (number | null)[]>> {
  return countOf(db, await listSeriesVaults(db, vaultIds), instants)
}
