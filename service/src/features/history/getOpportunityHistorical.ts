import type { CatalogueContext } from '../catalogue/index.js'
import { findBaseAsset, findRate, toMoment, toSharePrice, toTvl } from './point.js'
import { lastOfBuckets, listGrowth } from './points.js'
import type { RangeInput } from './range.js'
import { findSeries, listSnapshots, toTrust, type VaultInput } from './series.js'

/** TVL, share price and APY of a vault. A vault we do not know has none; where APY is withheld it is null. */
export async function getOpportunityHistorical(ctx: CatalogueContext, input: VaultInput & RangeInput) {
  const { range, series } = await findSeries(ctx, input)
  if (!series) return { data: [], historyTruncated: false }
  const { vault, growth, withheld } = series
  const source = withheld || growth === 'none' || growth === 'ambiguous' ? undefined : growth
  const trust = source && toTrust(series, source.source)
  const snapshots = await listSnapshots(ctx, series, range, { trust })
  const growths = source && trust ? listGrowth(snapshots, range, trust, source) : []
  const bucketOf = (at: number) => Math.floor(at / range.step)
  const rates = new Map(growths.map((each) => [bucketOf(each.to.at), findRate(each, 'apy')]))
  const data = lastOfBuckets(snapshots, range).map((reading) => ({
    ...toMoment(reading),
    tvl: toTvl(reading, vault),
    sharePrice: toSharePrice(reading, vault),
    apy: rates.get(bucketOf(reading.at)) ?? null,
  }))
  return { ...findBaseAsset(ctx, series), data, historyTruncated: false }
}
