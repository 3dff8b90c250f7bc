import type { AccrualFacts, SharePriceStep } from './types.js'

/** A time in which the price of a share is not guarded: from `from` on, up to `to`, at the price of the snapshot at `since`. */
type Stretch = { since: number; from: number; to: number }

/**
 * The holdings that count: where the price of a share is not guarded, the least that was held since its snapshot. A change at
 * the instant of a snapshot is part of it. Pure.
 */
export function guardHoldings(facts: AccrualFacts): AccrualFacts {
  const stretches = findStretches(facts.sharePrices)
  if (stretches.length === 0) return facts
  return {
    ...facts,
    balances: limit(facts.balances, ({ wallet }) => wallet, stretches),
    lots: limit(facts.lots, ({ wallet, distributorId }) => `${wallet} ${distributorId}`, stretches),
  }
}

/** From when on holdings must be known for what counts at an instant. Pure. */
export function findHoldingsStart(sharePrices: readonly SharePriceStep[], at: number): number {
  const held = sharePrices.findLast((step) => step.at <= at)
  return held?.leastSince === undefined ? at : Math.min(at, held.leastSince)
}

function findStretches(steps: readonly SharePriceStep[]): Stretch[] {
  const stretches: Stretch[] = []
  steps.forEach(({ at, leastSince: since }, index) => {
    if (since === undefined) return
    const to = steps[index + 1]?.at ?? Number.POSITIVE_INFINITY
    const last = stretches.at(-1)
    if (last?.since === since && last.to === at) last.to = to
    else stretches.push({ since, from: at, to })
  })
  return stretches
}

function limit<Step extends { at: number; shares: bigint }>(
  steps: readonly Step[],
  keyOf: (step: Step) => string,
  stretches: readonly Stretch[],
): Step[] {
  const held = new Map<string, Step>()
  const limited: Step[] = []
  let next = 0
  const pass = (until: number, take: (step: Step) => void) => {
    for (let step = steps[next]; step && step.at <= until; step = steps[++next]) take(step)
  }
  const keep = (step: Step) => {
    held.set(keyOf(step), step)
    limited.push(step)
  }
  for (const { since, from, to } of stretches) {
    pass(since, keep)
    const least = new Map<string, bigint>()
    const lower = (step: Step) => {
      const known = least.get(keyOf(step)) ?? held.get(keyOf(step))?.shares ?? 0n
      least.set(keyOf(step), step.shares < known ? step.shares : known)
    }
    pass(from, (step) => {
      lower(step)
      keep(step)
    })
    const show = (at: number, of: (key: string) => bigint | undefined) => {
      for (const [key, step] of held) {
        const shares = of(key)
        if (shares !== undefined && shares !== step.shares) limited.push({ ...step, at, shares })
      }
    }
    show(from, (key) => least.get(key))
    const shown = new Map(least)
    for (let step = steps[next]; step && step.at < to; step = steps[++next]) {
      lower(step)
      held.set(keyOf(step), step)
      const shares = least.get(keyOf(step)) ?? 0n
      if (shown.get(keyOf(step)) !== shares) limited.push({ ...step, shares })
      shown.set(keyOf(step), shares)
    }
    if (to === Number.POSITIVE_INFINITY) continue
    for (const [key, step] of held)
      if (least.has(key) && least.get(key) !== step.shares) limited.push({ ...step, at: to })
  }
  pass(Number.POSITIVE_INFINITY, keep)
  return limited
}
