import { parseDecimal } from '../../kernel/amount.js'
import { type Accrued, computeAccrual, computeScale, toUnits } from './accrual.js'
import { guardHoldings } from './guard.js'
import { computeApr, computeValue, divide } from './rates.js'
import type { AccrualFacts, AccrualStates, Fraction, SnapshotAmounts, StreamTerms, WalletAmounts } from './types.js'

/** An accrual with the adapters of a stream, and one without any. */
type Both = { own: Accrued; base: Accrued }

/**
 * A snapshot of a stream at an instant, and what the next one goes on from. The base is the same computation without
 * adapters, by the same budget. TVL and APR are shown for all that is held, at `price` of a share: that of the vault's newest
 * snapshot, whatever holders are paid by; absent: the price they are paid by.
 */
export function computeSnapshot(
  terms: StreamTerms,
  told: AccrualFacts,
  to: number,
  from?: AccrualStates,
  price?: Fraction,
): { amounts: SnapshotAmounts; states: AccrualStates } {
  // Weights of type 3 are shares, which no price stands for.
  const facts = terms.strategy.type === 3 ? told : guardHoldings(told)
  const paid = accrue(terms, facts, to, from)
  const held = facts === told ? paid : accrue(terms, told, to, from)
  const shown = { own: showAt(held.own, price), base: showAt(held.base, price) }
  const { amounts, wallets } = listAmounts(terms, paid, shown)
  return {
    amounts: { at: paid.own.state.at, ...amounts, ...measure(terms, paid, shown), wallets },
    states: { own: paid.own.state, base: paid.base.state },
  }
}

function accrue(terms: StreamTerms, facts: AccrualFacts, to: number, from?: AccrualStates): Both {
  const own = computeAccrual(terms, facts, to, from?.own)
  if (terms.adapters.length === 0) return { own, base: own }
  return { own, base: computeAccrual({ ...terms, adapters: [] }, facts, to, from?.base) }
}

const showAt = (accrued: Accrued, share: Fraction | undefined): Accrued =>
  share ? { ...accrued, prices: { ...accrued.prices, share } } : accrued

const nothing = { holding: { shares: 0n }, weight: 0n, accrued: 0n }

function listAmounts(terms: StreamTerms, paid: Both, shown: Both) {
  const { strategy } = terms
  const [scale, baseScale] = [computeScale(terms), computeScale({ adapters: [] })]
  const amounts = { amountBase: 0n, amountDistributed: 0n, userCount: 0, activeUserCount: 0 }
  const wallets: WalletAmounts[] = []
  const { own, base } = shown
  const isEarning = { own: paid.own.state.exhaustedAt === null, base: paid.base.state.exhaustedAt === null }
  // Whom adapters keep out may have earned without them, and hold nothing any more.
  const all = paid.base === paid.own ? own.earners.keys() : new Set([...own.earners.keys(), ...base.earners.keys()])
  for (const wallet of all) {
    const { holding, weight } = own.earners.get(wallet) ?? nothing
    const { weight: paidWeight, accrued } = paid.own.earners.get(wallet) ?? nothing
    const accruedBase = paid.base.earners.get(wallet)?.accrued ?? 0n
    const { shares } = holding
    if (accrued === 0n && accruedBase === 0n && shares === 0n) continue
    const rewards = toUnits(accrued, scale)
    const rewardsBase = toUnits(accruedBase, baseScale)
    amounts.amountDistributed += rewards
    amounts.amountBase += rewardsBase
    if (rewards > 0n) amounts.userCount += 1
    if (paidWeight > 0n) amounts.activeUserCount += 1
    wallets.push({
      ...{ wallet, rewards, rewardsBase, accrued, accruedBase },
      tvl: computeValue(weight > 0n ? shares : 0n, own.prices.share),
      baseTvl: computeValue(shares, own.prices.share),
      apr: isEarning.own ? computeApr(strategy, own.prices, { shares, weight, ...own }) : zeroApr(own),
      baseApr: isEarning.base
        ? computeApr(strategy, base.prices, { shares, weight: base.earners.get(wallet)?.weight ?? 0n, ...base })
        : zeroApr(base),
    })
  }
  wallets.sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
  return { amounts, wallets }
}

const zeroApr = ({ prices }: Accrued): string | null => (prices.share ? '0' : null)

function measure(terms: StreamTerms, paid: Both, { own, base }: Both) {
  const aprOf = ({ state }: Accrued, accrued: Accrued, shares: bigint): string | null =>
    state.exhaustedAt === null
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
    apr: aprOf(paid.own, own, shares),
    baseApr: aprOf(paid.base, base, baseShares),
    rewardTokenPrice: reward
      ? divide(reward.numerator * 10n ** BigInt(terms.rewardDecimals), reward.denominator)
      : null,
    unpricedSeconds: paid.own.state.unpricedSeconds,
    exhaustedAt: paid.own.state.exhaustedAt,
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
