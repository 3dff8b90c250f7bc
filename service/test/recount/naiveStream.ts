import type { AccrualFacts, Adapter, StreamTerms } from '../../src/features/streams/types.js'

/** A fraction in lowest terms. */
type Rational = { n: bigint; d: bigint }

function rational(n: bigint, d = 1n): Rational {
  let [a, b] = [n < 0n ? -n : n, d]
  while (b !== 0n) [a, b] = [b, a % b]
  return a === 0n ? { n: 0n, d: 1n } : { n: n / a, d: d / a }
}
const add = (a: Rational, b: Rational) => rational(a.n * b.d + b.n * a.d, a.d * b.d)
const subtract = (a: Rational, b: Rational) => rational(a.n * b.d - b.n * a.d, a.d * b.d)
const times = (a: Rational, b: Rational) => rational(a.n * b.n, a.d * b.d)
const over = (a: Rational, b: Rational) => rational(a.n * b.d, a.d * b.n)
const isLess = (a: Rational, b: Rational) => a.n * b.d < b.n * a.d

/**
 * What each wallet of a stream has earned, recounted from the words of the methodology in fractions: between two instants at
 * which anything changes every wallet is looked at alone. Shares no line with what it checks, and is very slow.
 */
export function recountStream(terms: StreamTerms, facts: AccrualFacts, to: number): Map<string, Rational> {
  const end = Math.min(to, terms.endAt ?? to)
  const instants = new Set([terms.startAt, end])
  const lists = [facts.balances, facts.lots, facts.sharePrices, facts.rewardPrices, terms.increases]
  for (const { at } of lists.flat()) if (at > terms.startAt && at < end) instants.add(at)
  const cuts = [...instants].sort((a, b) => a - b)
  const wallets = [...new Set(facts.balances.map(({ wallet }) => wallet))]
  const earned = new Map(wallets.map((wallet) => [wallet, rational(0n)]))
  const sum = () => [...earned.values()].reduce(add, rational(0n))
  cuts.slice(0, -1).forEach((from, index) => {
    const days = rational(BigInt((cuts[index + 1] ?? from) - from), 86_400n)
    const gains = new Map(wallets.map((wallet) => [wallet, rational(0n)]))
    const weights = new Map(wallets.map((wallet) => [wallet, weigh(wallet, from, terms.adapters, facts)]))
    const all = [...weights.values()].reduce(add, rational(0n))
    const share = last(facts.sharePrices, from)?.usd
    const reward = last(facts.rewardPrices, from)?.usd
    for (const [wallet, weight] of weights) {
      if (weight.n === 0n) continue
      const { strategy } = terms
      if (strategy.type === 3) gains.set(wallet, times(times(rational(strategy.tokensPerDay), days), over(weight, all)))
      else if (share) {
        const value = times(weight, rational(share.numerator, share.denominator))
        if (strategy.type === 1) gains.set(wallet, times(times(value, rational(strategy.tokensPerUsd, 1_000n)), days))
        else if (reward)
          gains.set(
            wallet,
            over(
              times(times(value, rational(strategy.aprE18, 10n ** 18n)), times(days, rational(1n, 365n))),
              rational(reward.numerator, reward.denominator),
            ),
          )
      }
    }
    let part = rational(1n)
    const gained = [...gains.values()].reduce(add, rational(0n))
    const inTime = terms.increases.filter(({ at }) => at <= from && (terms.endAt === null || at < terms.endAt))
    const budget = inTime.at(-1)?.total ?? terms.budget
    if (budget !== null && gained.n > 0n) {
      const rest = subtract(rational(budget), sum())
      if (isLess(rest, gained)) part = over(rest, gained)
    }
    for (const [wallet, gain] of gains) earned.set(wallet, add(earned.get(wallet) ?? rational(0n), times(gain, part)))
  })
  return earned
}

const last = <Step extends { at: number }>(steps: readonly Step[], at: number): Step | undefined =>
  steps.filter((step) => step.at <= at).at(-1)

function weigh(wallet: string, at: number, adapters: readonly Adapter[], facts: AccrualFacts): Rational {
  const own = <Step extends { wallet: string }>(steps: readonly Step[]) =>
    steps.filter((each) => each.wallet === wallet)
  const shares = last(own(facts.balances), at)?.shares ?? 0n
  const parts = new Map<string, Rational>()
  let rest = shares
  for (const distributorId of new Set(own(facts.lots).map((each) => each.distributorId))) {
    const lot =
      last(
        own(facts.lots).filter((each) => each.distributorId === distributorId),
        at,
      )?.shares ?? 0n
    parts.set(distributorId, rational(lot))
    rest -= lot
  }
  parts.set('', rational(rest))
  for (const adapter of adapters)
    for (const [distributorId, part] of parts) {
      let factor = rational(1n)
      if (adapter.type === 'allowlist' && !adapter.wallets.includes(wallet)) factor = rational(0n)
      if (adapter.type === 'blocklist' && adapter.wallets.includes(wallet)) factor = rational(0n)
      if (adapter.type === 'min-balance' && shares < adapter.shares) factor = rational(0n)
      if (
        adapter.type === 'boost' &&
        (adapter.wallets === undefined || adapter.wallets.includes(wallet)) &&
        (adapter.distributorIds === undefined || adapter.distributorIds.includes(distributorId))
      )
        factor = rational(BigInt(adapter.multiplierBps), 10_000n)
      parts.set(distributorId, times(part, factor))
    }
  return [...parts.values()].reduce(add, rational(0n))
}
