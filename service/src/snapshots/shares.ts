import { formatUnits, parseDecimal, usdDecimals } from '../kernel/amount.js'
import type { Queryable } from '../postgres/pool.js'
import { ranks, recordObservations } from '../prices/index.js'
import { listUnpricedShares, type UnpricedShare } from './storeShares.js'

const sharesMax = 5_000

/**
 * USD of a whole share: its price in the asset times the asset's price, exact, cut after 18 digits. Undefined where that is
 * nothing.
 */
export function computeShareUsd(
  share: Pick<UnpricedShare, 'priceNumerator' | 'priceExponent' | 'assetDecimals' | 'receiptDecimals' | 'assetUsd'>,
): string | undefined {
  const numerator =
    BigInt(share.priceNumerator) * parseDecimal(share.assetUsd, usdDecimals) * 10n ** BigInt(share.receiptDecimals)
  const usd = numerator / 10n ** BigInt(share.priceExponent + share.assetDecimals)
  return usd > 0n ? formatUnits(usd, usdDecimals) : undefined
}

/** Prices tokens that are shares of vaults, by every snapshot that has a price of the asset. */
export async function recordShares(db: Queryable, chainId: number): Promise<void> {
  const shares = await listUnpricedShares(db, chainId, sharesMax)
  const observations = shares.flatMap((share) => {
    const priceUsd = computeShareUsd(share)
    if (priceUsd === undefined) return []
    return [
      {
        ...{ chainId, address: share.token, priceUsd, source: `share:${share.vault}`, rank: ranks.share },
        ...{ blockNumber: share.blockNumber, blockHash: share.blockHash },
        observedAt: new Date(share.at * 1_000),
        validUntil: new Date((share.at + 2 * share.intervalSeconds) * 1_000),
      },
    ]
  })
  await recordObservations(db, observations)
}
