import type { CatalogueContext } from '../catalogue/index.js'
import { findBaseAsset, toMoment, toSharePrice } from './point.js'
import { lastOfBuckets } from './points.js'
import type { RangeInput } from './range.js'
import { assertServed, findSeries, listSnapshots, type VaultInput } from './series.js'

/** Share prices of a vault, withheld where its APR is. A vault we do not know has none. */
export async function getOpportunityHistoricalSharePrice(ctx: CatalogueContext, input: VaultInput & RangeInput) {
  const { range, series } = await findSeries(ctx, input)
  if (!series) return { data: [] }
  assertServed(series)
  const snapshots = await listSnapshots(ctx, series, range, { trust: undefined })
  const data = lastOfBuckets(snapshots, range).map((reading) => ({
    ...toMoment(reading),
    sharePrice: toSharePrice(reading, series.vault),
  }))
  return { ...findBaseAsset(ctx, series), data }
}
