import { holdFrom } from '../../derive/paidPrice.js'
import type { Level, PaidLevel } from '../../derive/usdDays.js'
import type { Queryable } from '../../postgres/pool.js'
import { listShareObservations } from '../../prices/index.js'
import { findRulesStart } from '../../sync/storeRules.js'
import { listPaidPrices, type PaidOrigin, type PaidPrices, type TracedStep } from './paidSteps.js'
import { type ChosenUsd, holdUsdFrom, listPaidUsd, openShareLookup, type ShareLookup, type UsdStep } from './paidUsd.js'
import { paidPriceVersion, type SnapshotRow, type VaultRange } from './storePaid.js'

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

/** With the vaults whose shares the price of the asset follows from. */
export type BasedValues = PaidValues & { bases: readonly number[] }

/**
 * The worth of a vault's share from what it was at `from`, up to `to`: the paid price, and the price of the asset. `carries`: a
 * snapshot with too few shares is no reading, and one without a price of the asset keeps the price before it.
 */
export async function readPaidValues(
  db: Queryable,
  { carries, ...range }: VaultRange & { carries: boolean },
): Promise<PaidValues> {
  const [found] = await listPaidValues(db, [range], { carries })
  return found ?? { values: [], snapshots: [], steps: [], awaited: [] }
}

/** The same of many shares, in their order. */
export async function listPaidValues(
  db: Queryable,
  ranges: readonly VaultRange[],
  { carries }: { carries: boolean },
): Promise<BasedValues[]> {
  const [paid, rules] = await Promise.all([
    listPaidPrices(db, ranges, { skipsDust: carries }),
    findRulesStart(db, paidPriceVersion),
  ])
  const ids = new Set(paid.flatMap(({ snapshots }) => snapshots.flatMap(({ observationId }) => observationId ?? [])))
  // Those of all vaults at once. What a share rests on that such a price follows from is looked up when it is read.
  const known = new Map((await listShareObservations(db, [...ids])).map((each) => [each.id, each]))
  return Promise.all(
    paid.map(async (own, place) => {
      const bases = new Set<number>()
      const { readShare } = openShareLookup(db, (vaultId) => bases.add(vaultId))
      const listObservations = async (asked: readonly number[]) => [
        ...asked.flatMap((id) => known.get(id) ?? []),
        ...(await listShareObservations(
          db,
          asked.filter((id) => !ids.has(id)),
        )),
      ]
      const to = ranges[place]?.to ?? new Date(0)
      const values = await valuePaidPrices({ listObservations, readShare }, own, {
        to,
        carries,
        rulesMs: rules.getTime(),
      })
      return { ...values, bases: [...bases] }
    }),
  )
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
