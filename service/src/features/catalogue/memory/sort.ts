import { mapInSteps, runAtOnce, type Steps } from '../../../kernel/async/inSlices.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { compareCodePoints } from '../text.js'

/** The sort keys of opportunity lists with their labels, in the order offered. */
export const sortOptions = [
  { value: 'tvl', label: 'TVL' },
  { value: 'name', label: 'Name' },
  { value: 'type', label: 'Type' },
  { value: 'apr', label: 'Estimated APR' },
  { value: 'curator', label: 'Curator' },
  { value: 'provider', label: 'Provider' },
  { value: 'tvlD1', label: 'TVL change, 1 day' },
  { value: 'tvlD7', label: 'TVL change, 7 days' },
  { value: 'tvlD30', label: 'TVL change, 30 days' },
  { value: 'lpsD1', label: 'LP change, 1 day' },
  { value: 'lpsD7', label: 'LP change, 7 days' },
  { value: 'lpsD30', label: 'LP change, 30 days' },
  { value: 'growthApyD1', label: 'APY change, 1 day' },
  { value: 'growthApyD7', label: 'APY change, 7 days' },
  { value: 'growthApyD30', label: 'APY change, 30 days' },
] as const

export type SortBy = (typeof sortOptions)[number]['value']

export const sortOrders = ['asc', 'desc'] as const

export type SortOrder = (typeof sortOrders)[number]

/** Sorts whose keys jobs push; the others stand as long as the rest of the catalogue does. */
export function isLiveSort(by: SortBy): boolean {
  return by === 'tvl' || by === 'apr' || /D[0-9]+$/.test(by)
}

type SortKey = string | number | null

const readKey: { [by in SortBy]: (record: OpportunityRecord) => SortKey } = {
  tvl: ({ tvlUsd, analyticsAt }) => (tvlUsd === null || analyticsAt === null ? null : Number(tvlUsd)),
  name: ({ name }) => name.toLowerCase(),
  type: ({ type }) => type,
  apr: ({ estimatedApr }) => estimatedApr,
  curator: ({ curator }) => curator?.name.toLowerCase() ?? null,
  // Providers are kept in the order of their names, so the first one is the alphabetically first.
  provider: ({ providers }) => providers[0]?.name.toLowerCase() ?? null,
  tvlD1: ({ deltas }) => deltas.tvl?.d1 ?? null,
  tvlD7: ({ deltas }) => deltas.tvl?.d7 ?? null,
  tvlD30: ({ deltas }) => deltas.tvl?.d30 ?? null,
  lpsD1: ({ deltas }) => deltas.lps?.d1 ?? null,
  lpsD7: ({ deltas }) => deltas.lps?.d7 ?? null,
  lpsD30: ({ deltas }) => deltas.lps?.d30 ?? null,
  growthApyD1: ({ deltas }) => deltas.apy?.d1 ?? null,
  growthApyD7: ({ deltas }) => deltas.apy?.d7 ?? null,
  growthApyD30: ({ deltas }) => deltas.apy?.d30 ?? null,
}

/**
 * The positions of records, sorted: text by lower-cased code points, nulls last in both orders, ties by id ascending in
 * both orders. The records stand in the order of their ids.
 */
export function sortPositions(records: readonly OpportunityRecord[], by: SortBy, order: SortOrder): Uint32Array {
  return runAtOnce(sortInSteps(records, by, order))
}

/** The same in steps. `before` is an earlier order of the same length: sorting a nearly sorted list costs little. */
export function* sortInSteps(
  records: readonly OpportunityRecord[],
  by: SortBy,
  order: SortOrder,
  before?: Uint32Array,
): Steps<Uint32Array> {
  const sign = order === 'asc' ? 1 : -1
  const keys = yield* mapInSteps(records, readKey[by])
  const compare = (a: number, b: number) => compareKeys(keys[a] ?? null, keys[b] ?? null, sign) || a - b
  const start = before?.length === records.length ? before.slice() : Uint32Array.from(records.keys())
  return yield* mergeRuns(start, compare)
}

type Compare = (a: number, b: number) => number

/** Merges neighbouring runs that are in order until one is left. */
function* mergeRuns(positions: Uint32Array, compare: Compare): Steps<Uint32Array> {
  let from = positions
  let into: Uint32Array = new Uint32Array(from.length)
  for (;;) {
    const ends = yield* findRuns(from, compare)
    if (ends.length <= 1) return from
    let start = 0
    for (let run = 0; run < ends.length; run += 2) {
      const [middle = 0, end = middle] = ends.slice(run, run + 2)
      yield* merge(from, into, start, middle, end, compare)
      start = end
    }
    const merged = into
    into = from
    from = merged
  }
}

const comparisonsAStep = 256

/** Where runs that are in order end. */
function* findRuns(positions: Uint32Array, compare: Compare): Steps<number[]> {
  const ends: number[] = []
  for (let at = 1; at < positions.length; at++) {
    if (compare(positions[at - 1] ?? 0, positions[at] ?? 0) > 0) ends.push(at)
    if (at % comparisonsAStep === 0) yield
  }
  if (positions.length > 0) ends.push(positions.length)
  return ends
}

/** Merges the runs `start` … `middle` and `middle` … `end`. */
function* merge(
  from: Uint32Array,
  into: Uint32Array,
  start: number,
  middle: number,
  end: number,
  compare: Compare,
): Steps<undefined> {
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    const takesLeft = right >= end || (left < middle && compare(from[left] ?? 0, from[right] ?? 0) <= 0)
    into[at] = from[takesLeft ? left++ : right++] ?? 0
    if (at % comparisonsAStep === 0) yield
  }
}

function compareKeys(a: SortKey, b: SortKey, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'string' && typeof b === 'string' ? compareCodePoints(a, b) : a < b ? -1 : Number(a > b)
  return order * sign
}
