import { holdFrom } from '../../derive/paidPrice.js'
import type { Level, PaidLevel } from '../../derive/usdDays.js'
import type { Queryable } from '../../postgres/pool.js'
import { findRulesStart } from '../../sync/storeRules.js'
import { type PaidOrigin, type PaidPrices, readPaidPrices, type TracedStep } from './paidSteps.js'
import { type ChosenUsd, holdUsdFrom, listPaidUsd, openShareLookup, type ShareLookup, type UsdStep } from './paidUsd.js'
import { paidPriceVersion, type SnapshotRow } from './storePaid.js'

export type PaidRange = { vaultId: number; from: Date; to: Date }

/** The worth of a share from an instant on, by which holders are paid. */
export type PaidValue = PaidLevel & {
  atMs: number
  /** The newest snapshot by then. */
  sinceMs: number
  observationId: number | null
  origin: PaidOrigin
}

export type PaidValues = {
  values: readonly PaidValue[]
  snapshots: readonly SnapshotRow[]
  steps: readonly TracedStep[]
  /** Blocks that have to be read and were not tried yet. */
  awaited: readonly number[]
}

/**
 * The worth of a vault's share from what it was at `from`, up to `to`: the paid price, and the price of the asset. `carries`: a
 * snapshot with too few shares is no reading, and one without a price of the asset keeps the price before it.
 */
export async function readPaidValues(
  db: Queryable,
  { vaultId, from, to, carries }: PaidRange & { carries: boolean },
): Promise<PaidValues> {
  const [paid, rules] = await Promise.all([
    readPaidPrices(db, { vaultId, from, to, skipsDust: carries }),
    findRulesStart(db, paidPriceVersion),
  ])
  return valuePaidPrices(openShareLookup(db), paid, { to, carries, rulesMs: rules.getTime() })
}

/** Values a paid price where the rule holds from `rulesMs` on; before that a share counts at its newest snapshot. */
export async function valuePaidPrices(
  lookup: ShareLookup,
  paid: PaidPrices,
  { to, carries, rulesMs }: { to: Date; carries: boolean; rulesMs: number },
): Promise<PaidValues> {
  const steps = holdFrom(paid.steps, rulesMs)
  const chosen = chooseUsd(paid, { to, carries })
  const found = await listPaidUsd(lookup, chosen)
  const usd = chosen.map((each, index) => ({
    steps: holdUsdFrom(found[index] ?? [], each, rulesMs),
    observationId: each.observationId,
  }))
  return { values: joinSteps(steps, usd), steps, snapshots: paid.snapshots, awaited: paid.awaited }
}

function chooseUsd({ snapshots }: PaidPrices, { to, carries }: { to: Date; carries: boolean }): ChosenUsd[] {
  const used = snapshots.filter(({ isDust, priceUsd }) => !carries || (!isDust && priceUsd !== null))
  return used.map(({ at, priceUsd, observationId }, index) => ({
    ...{ fromMs: at.getTime(), toMs: (used[index + 1]?.at ?? to).getTime(), priceUsd, observationId },
  }))
}

type Usd = { steps: readonly UsdStep[]; observationId: number | null }
type Priced = UsdStep & { observationId: number | null }

/** One value for each instant at which a share or its asset has another price; none before the asset has one. */
function joinSteps(steps: readonly TracedStep[], usd: readonly Usd[]): PaidValue[] {
  const prices: Priced[] = []
  for (const { steps: own, observationId } of usd)
    for (const { atMs, priceUsd, isGuarded } of own) prices.push({ atMs, priceUsd, isGuarded, observationId })
  const values: PaidValue[] = []
  let [step, price, sinceMs]: [TracedStep | undefined, Priced | undefined, number] = [undefined, undefined, 0]
  let [nextStep, nextPrice] = [0, 0]
  while (nextStep < steps.length || nextPrice < prices.length) {
    const atMs = Math.min(timeOf(steps[nextStep]), timeOf(prices[nextPrice]))
    for (; timeOf(steps[nextStep]) <= atMs; nextStep += 1) {
      step = steps[nextStep]
      if (step && 'snapshot' in step.by) sinceMs = step.atMs
    }
    for (; timeOf(prices[nextPrice]) <= atMs; nextPrice += 1) price = prices[nextPrice]
    if (!step || !price) continue
    const { numerator, full, exponent, origin } = step
    const { priceUsd, observationId } = price
    const isGuarded = step.isGuarded && price.isGuarded
    values.push({ atMs, numerator, full, exponent, isGuarded, priceUsd, sinceMs, observationId, origin })
  }
  return values
}

const timeOf = (each: { atMs: number } | undefined) => each?.atMs ?? Number.POSITIVE_INFINITY

/** The same as levels, of which the last at an instant counts. */
export const toLevels = (values: readonly PaidValue[]): Level<PaidLevel>[] =>
  values.map((value) => ({ atMs: value.atMs, value }))
