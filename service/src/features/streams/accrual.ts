import { createWeigher } from './adapters.js'
import { accumulatorScale, computeRate, daySeconds, type Prices } from './rates.js'
import type { AccrualFacts, AccrualState, PriceStep, StreamTerms } from './types.js'

/** The factor of exact amounts for one smallest unit of the reward: each boost multiplies weights by ten thousand. */
export function computeScale({ adapters }: Pick<StreamTerms, 'adapters'>): bigint {
  return accumulatorScale * daySeconds * createWeigher(adapters).unit
}

/**
 * Whole units of an exact amount. Rates are cut, so what is due in full lies a little below: less than a billionth of a
 * unit below counts as whole. Of fewer wallets than a billion the sum stays within the sum of what is exact.
 */
export function toUnits(accrued: bigint, scale: bigint): bigint {
  return (accrued + scale / 1_000_000_000n) / scale
}

/** Holding, weight and earnings of a wallet. */
export type Earner = {
  wallet: string
  holding: { shares: bigint; lots: Map<string, bigint> }
  weight: bigint
  /** Exact, up to the accumulator at `settled`. */
  accrued: bigint
  settled: bigint
}

/** A stream at an instant. */
export type Accrued = {
  state: AccrualState
  /** In the order they came; every wallet that was ever named. */
  earners: ReadonlyMap<string, Earner>
  prices: Prices
  /** All that weighs, and what an unboosted share weighs. */
  total: bigint
  unit: bigint
}

/**
 * Accrues a stream from `from` (or from its start) to an instant, at most to its end. Facts may begin earlier and must include
 * the state at `from.at`. Rewards are a time integral, kept as an accumulator of rewards per share that grows in proportion
 * to time between facts: so the result is the same wherever it is split.
 */
export function computeAccrual(terms: StreamTerms, facts: AccrualFacts, to: number, from?: AccrualState): Accrued {
  const { strategy } = terms
  const weigher = createWeigher(terms.adapters)
  const { unit } = weigher
  const scale = accumulatorScale * daySeconds * unit
  const earners = new Map<string, Earner>()
  const prices: Prices = {}
  const stop = Math.min(to, terms.endAt ?? to)
  let at = from?.at ?? terms.startAt
  let distributed = from?.distributed ?? 0n
  let weighedSeconds = from?.weighedSeconds ?? 0
  let unpricedSeconds = from?.unpricedSeconds ?? 0
  let exhaustedAt = from?.exhaustedAt ?? null
  let cap = terms.budget === null ? null : terms.budget * scale
  let total = 0n
  let accumulator = 0n
  let rate: bigint | undefined
  let isRateKnown = false

  from?.accrued.forEach((accrued, wallet) => {
    findEarner(earners, wallet).accrued = accrued
  })

  const settle = (earner: Earner): void => {
    if (earner.settled !== accumulator) earner.accrued += earner.weight * (accumulator - earner.settled)
    earner.settled = accumulator
  }

  const reweigh = (earner: Earner): void => {
    settle(earner)
    const weight = weigher.weigh(earner.wallet, earner.holding)
    if (weight === earner.weight) return
    total += weight - earner.weight
    earner.weight = weight
    if (strategy.type === 3) isRateKnown = false
  }

  const spread = (amount: bigint): void => {
    for (const earner of earners.values()) settle(earner)
    giveOut(earners.values(), amount, total)
    distributed += amount
  }

  const advance = (until: number): void => {
    const seconds = until - at
    if (seconds <= 0) return
    if (!isRateKnown) rate = computeRate(strategy, prices, { total, unit })
    isRateKnown = true
    if (rate === undefined) unpricedSeconds += seconds
    else if (total > 0n && exhaustedAt === null) {
      const perSecond = total * rate
      const gain = perSecond * BigInt(seconds)
      if (cap !== null && distributed + gain >= cap) {
        const rest = cap - distributed
        exhaustedAt = at + (perSecond === 0n ? 0 : Number((rest + perSecond - 1n) / perSecond))
        weighedSeconds += exhaustedAt - at
        spread(rest)
      } else {
        accumulator += rate * BigInt(seconds)
        distributed += gain
        weighedSeconds += seconds
      }
    }
    at = until
  }

  const followers = [
    follow(facts.balances, ({ wallet, shares }) => {
      const earner = findEarner(earners, wallet)
      earner.holding.shares = shares
      reweigh(earner)
    }),
    follow(facts.lots, ({ wallet, distributorId, shares }) => {
      if (!weigher.distributors.has(distributorId)) return
      const earner = findEarner(earners, wallet)
      earner.holding.lots.set(distributorId, shares)
      reweigh(earner)
    }),
    follow(facts.sharePrices, ({ usd }: PriceStep) => {
      prices.share = usd
      if (strategy.type !== 3) isRateKnown = false
    }),
    follow(facts.rewardPrices, ({ usd }: PriceStep) => {
      prices.reward = usd
      if (strategy.type === 2) isRateKnown = false
    }),
    follow(terms.increases, (step) => {
      if (cap === null || (terms.endAt !== null && step.at >= terms.endAt)) return
      cap = step.total * scale
      if (distributed < cap) exhaustedAt = null
    }),
  ]
  for (;;) {
    let next = Number.POSITIVE_INFINITY
    for (const follower of followers) if (follower.at < next) next = follower.at
    if (next > stop) break
    advance(next)
    for (const follower of followers) follower.apply(next)
  }
  advance(stop)
  // The rest that cut rates of type 3 leave is distributed at the end, so that a budget used in full is paid in full.
  if (strategy.type === 3 && stop === terms.endAt && total > 0n && exhaustedAt === null) {
    const due = strategy.tokensPerDay * BigInt(weighedSeconds) * accumulatorScale * unit
    spread((cap !== null && cap < due ? cap : due) - distributed)
  }
  const accrued = new Map<string, bigint>()
  for (const earner of earners.values()) {
    settle(earner)
    if (earner.accrued > 0n) accrued.set(earner.wallet, earner.accrued)
  }
  const state = { at, distributed, weighedSeconds, unpricedSeconds, exhaustedAt, accrued }
  return { state, earners, prices, total, unit }
}

/** The earner of a wallet; one that was never named begins with nothing. */
function findEarner(earners: Map<string, Earner>, wallet: string): Earner {
  let earner = earners.get(wallet)
  if (!earner) {
    earner = { wallet, holding: { shares: 0n, lots: new Map() }, weight: 0n, accrued: 0n, settled: 0n }
    earners.set(wallet, earner)
  }
  return earner
}

/** Gives exactly so much to those that weigh something now: units that are left over to the largest fractions. */
function giveOut(earners: Iterable<Earner>, amount: bigint, total: bigint): void {
  const parts: { earner: Earner; fraction: bigint }[] = []
  let left = amount
  for (const earner of earners) {
    if (earner.weight === 0n) continue
    const product = earner.weight * amount
    const part = product / total
    earner.accrued += part
    left -= part
    parts.push({ earner, fraction: product % total })
  }
  if (left > 0n) parts.sort(byFraction)
  for (const { earner } of parts.slice(0, Number(left))) earner.accrued += 1n
}

type Follower = { at: number; apply(until: number): void }

/** Applies steps up to an instant; `at` is that of the next one. */
function follow<Step extends { at: number }>(steps: readonly Step[], apply: (step: Step) => void): Follower {
  let next = 0
  const follower: Follower = {
    at: steps[0]?.at ?? Number.POSITIVE_INFINITY,
    apply: (until) => {
      for (let step = steps[next]; step && step.at <= until; step = steps[next]) {
        apply(step)
        next += 1
      }
      follower.at = steps[next]?.at ?? Number.POSITIVE_INFINITY
    },
  }
  return follower
}

function byFraction(a: { earner: Earner; fraction: bigint }, b: { earner: Earner; fraction: bigint }): number {
  if (a.fraction !== b.fraction) return a.fraction > b.fraction ? -1 : 1
  if (a.earner.weight !== b.earner.weight) return a.earner.weight > b.earner.weight ? -1 : 1
  return a.earner.wallet < b.earner.wallet ? -1 : 1
}
