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
  const sign = order === 'asc' ? 1 : -1
  const keys = records.map(readKey[by])
  return Uint32Array.from(records.keys()).sort((a, b) => compareKeys(keys[a] ?? null, keys[b] ?? null, sign) || a - b)
}

function compareKeys(a: SortKey, b: SortKey, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'string' && typeof b === 'string' ? compareCodePoints(a, b) : a < b ? -1 : Number(a > b)
  return order * sign
}
