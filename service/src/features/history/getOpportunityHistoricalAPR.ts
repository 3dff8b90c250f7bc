import { notFound } from '../../kernel/errors.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { toMethod, toRatePoints } from './point.js'
import { listGrowth } from './points.js'
import type { RangeInput } from './range.js'
import { assertServed, findSeries, listSnapshots, sharePriceGrowth, toTrust, type VaultInput } from './series.js'

export type RateInput = VaultInput & RangeInput & { includeInputs?: boolean }

/** Simple growth of the share price in the base asset, whatever measures the vault's APY. */
export async function getOpportunityHistoricalAPR(ctx: CatalogueContext, input: RateInput) {
  const { range, series } = await findSeries(ctx, input)
  if (!series) throw notFound('no such vault, so no price indexer of it', { reason: 'PROTOCOL_UNSUPPORTED' })
  assertServed(series)
  const trust = toTrust(series, 'share-price')
  const withHashes = input.includeInputs === true
  const snapshots = await listSnapshots(ctx, series, range, { trust, withHashes })
  const growths = listGrowth(snapshots, range, trust, sharePriceGrowth)
  const data = toRatePoints(growths, 'apr', withHashes ? series.vault : undefined)
  return { data, method: toMethod('apr', 'share-price') }
}
