import { compareCodePoints } from './text.js'
import type { Listed } from './view.js'

/** What a list of opportunities can be sorted by, with the label shown to a person, in the order offered. */
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

type SortKey = string | number | null

const readKey: { [by in SortBy]: (entry: Listed) => SortKey } = {
  tvl: ({ item }) => (item.freshness.analyticsAt === null ? null : item.tvl),
  name: ({ item }) => item.name.toLowerCase(),
  type: ({ item }) => item.type.toLowerCase(),
  apr: ({ item }) => item.estimatedApr,
  curator: ({ record }) => record.curator?.name.toLowerCase() ?? null,
  // Providers are kept in the order of their names, so the first one is the alphabetically first.
  provider: ({ record }) => record.providers[0]?.name.toLowerCase() ?? null,
  tvlD1: ({ deltas }) => deltas.tvl.d1,
  tvlD7: ({ deltas }) => deltas.tvl.d7,
  tvlD30: ({ deltas }) => deltas.tvl.d30,
  lpsD1: ({ deltas }) => deltas.lps.d1,
  lpsD7: ({ deltas }) => deltas.lps.d7,
  lpsD30: ({ deltas }) => deltas.lps.d30,
  growthApyD1: ({ deltas }) => deltas.apy.d1,
  growthApyD7: ({ deltas }) => deltas.apy.d7,
  growthApyD30: ({ deltas }) => deltas.apy.d30,
}

/** Sorts: text by lower-cased code points, nulls last in both orders, ties by id ascending in both orders. */
export function sortListed(entries: readonly Listed[], by: SortBy, order: SortOrder): readonly Listed[] {
  const sign = order === 'asc' ? 1 : -1
  return entries
    .map((entry) => ({ entry, key: readKey[by](entry) }))
    .sort((a, b) => compareKeys(a.key, b.key, sign) || compareCodePoints(a.entry.id, b.entry.id))
    .map(({ entry }) => entry)
}

function compareKeys(a: SortKey, b: SortKey, sign: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order = typeof a === 'string' && typeof b === 'string' ? compareCodePoints(a, b) : a < b ? -1 : Number(a > b)
  return order * sign
}
