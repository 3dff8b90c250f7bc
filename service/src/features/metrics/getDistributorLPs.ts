import { formatTs } from '../../kernel/clock.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { listCounts } from './counts.js'
import { type SeriesInput, selectSeries } from './selection.js'
import { readLps } from './storeLps.js'

/** How many wallets hold what a distributor brought, over time, and how many ever did. */
export async function getDistributorLPs(ctx: CatalogueContext, input: SeriesInput) {
  const { vaults, buckets } = await selectSeries(ctx, input)
  if (!vaults) return { timeseries: [] }
  const points = await readLps(ctx.db, { scope: input.distributorId, vaults }, buckets)
  return {
    timeseries: listCounts(buckets, points).map(({ at, active, participated }) => ({
      timestamp: formatTs(at),
      activeLps: active,
      participatedLps: participated,
    })),
  }
}
