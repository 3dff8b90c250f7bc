import { parseDecimal } from '../../kernel/amount.js'
import { type Accrued, computeAccrual, computeScale, toUnits } from './accrual.js'
import { guardHoldings } from './guard.js'
import { computeApr, computeValue, divide } from './rates.js'
import type { AccrualFacts, AccrualStates, SnapshotAmounts, StreamTerms, WalletAmounts } from './types.js'

/**
 * A snapshot of a stream at an instant, and what the next one goes on from. The base is the same computation without
 * adapters, by the same budget.
 */
export function computeSnapshot(
  terms: StreamTerms,
  told: AccrualFacts,
  to: number,
  from?: AccrualStates,
): { amounts: SnapshotAmounts; states: AccrualStates } {
  // Weights of type 3 are shares, which no price stands for.
  const facts = terms.strategy.type === 3 ? told : guardHoldings(told)
  const own = computeAccrual(terms, facts, to, from?.own)
  const plain = { ...terms, adapters: [] }
  const base = terms.adapters.length === 0 ? own : computeAccrual(plain, facts, to, from?.base)
  const { amounts, wallets } = listAmounts(terms, own, base)
  return {
    amounts: { at: own.state.at, ...amounts, ...measure(terms, own, base), wallets },
    states: { own: own.state, base: base.state },
  }
}

const nothing = { holding: { shares: 0n }, weight: 0n, accrued: 0n }

function listAmounts(terms: StreamTerms, own: Accrued, base: Accrued) {
  const { strategy } = terms
  const [scale, baseScale] = [computeScale(terms), computeScale({ adapters: [] })]
  const amounts = { amountBase: 0n, amountDistributed: 0n, userCount: 0, activeUserCount: 0 }
  const wallets: WalletAmounts[] = []
  // Whom adapters keep out may have earned without them, and hold nothing any more.
  const all = base === own ? own.earners.keys() : new Set([...own.earners.keys(), ...base.earners.keys()])
  for (const wallet of all) {
    const { holding, weight, accrued } = own.earners.get(wallet) ?? nothing
    const plain = base.earners.get(wallet)
    const accruedBase = plain?.accrued ?? 0n
    const { shares } = holding
    if (accrued === 0n && accruedBase === 0n && shares === 0n) continue
    const rewards = toUnits(accrued, scale)
    const rewardsBase = toUnits(accruedBase, baseScale)
    amounts.amountDistributed += rewards
    amounts.amountBase += rewardsBase
    if (rewards > 0n) amounts.userCount += 1
    if (weight > 0n) amounts.activeUserCount += 1
    wallets.push({
      ...{ wallet, rewards, rewardsBase, accrued, accruedBase },
      tvl: computeValue(weight > 0n ? shares : 0n, own.prices.share),
      baseTvl: computeValue(shares, own.prices.share),
      apr: isEarning(own) ? computeApr(strategy, own.prices, { shares, weight, ...own }) : zeroApr(own),
      baseApr: isEarning(base)
        ? computeApr(strategy, base.prices, { shares, weight: plain?.weight ?? 0n, ...base })
        : zeroApr(base),
    })
  }
  wallets.sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
  return { amounts, wallets }
}

const isEarning = ({ state }: Accrued): boolean => state.exhaustedAt === null
const zeroApr = ({ prices }: Accrued): string | null => (prices.share ? '0' : null)

function measure(terms: StreamTerms, own: Accrued, base: Accrued) {
  const aprOf = (accrued: Accrued, shares: bigint): string | null =>
    isEarning(accrued)
      ? computeApr(terms.strategy, accrued.prices, { shares, weight: accrued.total, ...accrued })
      : zeroApr(accrued)
  let [shares, baseShares] = [0n, 0n]
  for (const { holding, weight } of own.earners.values()) {
    baseShares += holding.shares
    if (weight > 0n) shares += holding.shares
  }
  const { reward, share } = own.prices
  return {
    tvl: computeValue(shares, share),
    baseTvl: computeValue(baseShares, share),
    apr: aprOf(own, shares),
    baseApr: aprOf(base, baseShares),
    rewardTokenPrice: reward
      ? divide(reward.numerator * 10n ** BigInt(terms.rewardDecimals), reward.denominator)
      : null,
    unpricedSeconds: own.state.unpricedSeconds,
    exhaustedAt: own.state.exhaustedAt,
  }
}

/** USD of a smallest unit, from the price of a whole one. */
export function toUnitPrice(priceUsd: string, decimals: number) {
  return {
    numerator: parseDecimal(priceUsd, priceDigits(priceUsd)),
    denominator: 10n ** BigInt(decimals + priceDigits(priceUsd)),
  }
}

/** USD of a smallest unit of a share: `numerator` of the asset's smallest units for 10^exponent of its own. */
export function toSharePrice(
  { numerator, exponent, priceUsd }: { numerator: bigint; exponent: number; priceUsd: string },
  assetDecimals: number,
) {
  const asset = toUnitPrice(priceUsd, assetDecimals)
  return { numerator: numerator * asset.numerator, denominator: asset.denominator * 10n ** BigInt(exponent) }
}

const priceDigits = (priceUsd: string): number => priceUsd.split('.')[1]?.length ?? 0
