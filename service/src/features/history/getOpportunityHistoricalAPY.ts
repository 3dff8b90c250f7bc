import { failedPrecondition, unavailable } from '../../kernel/errors.js'
import type { CatalogueContext } from '../catalogue/index.js'
import type { RateInput } from './getOpportunityHistoricalAPR.js'
import { toMethod, toRatePoints } from './point.js'
import { listGrowth } from './points.js'
import { assertServed, findSeries, listSnapshots, toTrust } from './series.js'

/** Compound growth of what the vault is measured by: its share price, or the US dollars of a share. */
export async function getOpportunityHistoricalAPY(ctx: CatalogueContext, input: RateInput) {
  const { range, series } = await findSeries(ctx, input)
  const reason = 'INDEXING_NOT_STARTED'
  if (!series) throw unavailable('nothing indexes this vault', { reason })
  const { growth, withheld, retryAfterSeconds } = series
  if (withheld?.reason === 'PROTOCOL_UNSUPPORTED')
    throw unavailable('nothing indexes vaults of this kind', { reason, retryAfterSeconds })
  if (growth === 'ambiguous')
    throw failedPrecondition('two growth sources of this vault are in force at once; the operator has to choose one')
  assertServed(series)
  // Without a source the series is withheld.
  if (growth === 'none') throw unavailable('nothing measures the growth of this vault', { reason })
  const trust = toTrust(series, growth.source)
  const withHashes = input.includeInputs === true
  const snapshots = await listSnapshots(ctx, series, range, { trust, withHashes })
  const data = toRatePoints(listGrowth(snapshots, range, trust, growth), 'apy', withHashes ? series.vault : undefined)
  return { data, method: toMethod('apy', growth.source) }
}
