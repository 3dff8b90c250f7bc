import type { CatalogueContext } from '../catalogue/index.js'
import { findBaseAsset, toMoment, toTvl } from './point.js'
import { lastOfBuckets } from './points.js'
import type { RangeInput } from './range.js'
import { findSeries, listSnapshots, type VaultInput } from './series.js'

/** The TVL of a vault over time. An unknown vault has no points. */
export async function getOpportunityHistoricalTVL(ctx: CatalogueContext, input: VaultInput & RangeInput) {
  const { range, series } = await findSeries(ctx, input)
  if (!series) return { data: [] }
  const snapshots = await listSnapshots(ctx, series, range, { trust: undefined })
  const data = lastOfBuckets(snapshots, range).map((reading) => ({
    ...toMoment(reading),
    tvl: toTvl(reading, series.vault),
  }))
  return { ...findBaseAsset(ctx, series), data }
}
