import { computeUsd } from '../../kernel/amount.js'
import type { PriceObservation } from '../../prices/index.js'
import { isOld, type Observed } from './jobStates.js'
import type { TvlPush } from './storePushes.js'

/** The TVL the catalogue should show: where it changed, and where it was said too long ago. Prices by asset. Pure. */
export function listTvlPushes(
  observed: readonly Observed[],
  prices: ReadonlyMap<string, Pick<PriceObservation, 'priceUsd'>>,
  now: Date,
): TvlPush[] {
  return observed.flatMap(({ record, state: { figures } }) => {
    const { asset, assetDecimals } = record.vault
    const price = prices.get(asset)?.priceUsd
    const tvlUsd = figures && price !== undefined ? computeUsd(figures.totalAssets, assetDecimals, price) : null
    if (!isOld(record.analyticsAt, now) && sameNumber(record.tvlUsd, tvlUsd)) return []
    return [{ opportunityId: record.id, tvlUsd, analyticsAt: now }]
  })
}

function sameNumber(a: string | null, b: string | null): boolean {
  return a === b || (a !== null && b !== null && Number(a) === Number(b))
}
