import type { types } from '@openearn/sdk'
import { withQuery } from '../place.js'

/** The members of the list's query that the URL holds, by the names that the service gives them. */
const texts = ['search', 'chainIds', 'depositTokenSymbols', 'curatorId', 'tags'] as const
const numbers = ['tvlMin', 'tvlMax', 'minApr', 'maxApr'] as const
const flags = ['featured', 'depositEnabled', 'withdrawEnabled', 'asyncDeposit', 'routedSwapEnabled'] as const

export type Filter = (typeof texts)[number] | (typeof numbers)[number] | (typeof flags)[number]

const filters: readonly string[] = [...texts, ...numbers, ...flags]

export const pageSize = 20

/** Names in a URL are strangers' texts: what is not one of the form is left out, so that a list is shown at all. */
export function toParams(query: URLSearchParams): types.ListOpportunitiesParams {
  const params: Record<string, unknown> = { includeDeltas: true, limit: pageSize, page: toPage(query) }
  for (const name of texts) {
    const value = query.get(name)?.trim()
    if (value) params[name] = value.slice(0, 200)
  }
  for (const name of numbers) {
    const value = query.get(name)
    if (value && Number.isFinite(Number(value))) params[name] = Number(value)
  }
  for (const name of flags) if (query.get(name) === 'true') params[name] = true
  const { sortBy, sortOrder } = toSort(query)
  return { ...params, sortBy, sortOrder } as types.ListOpportunitiesParams
}

const toPage = (query: URLSearchParams): number => {
  const page = Number(query.get('page') ?? 1)
  return Number.isSafeInteger(page) && page > 0 ? page : 1
}

export type SortBy = NonNullable<types.ListOpportunitiesParams['sortBy']>

/** The sorts of the service, in the order of the form, as the reader knows them. */
export const sorts: Readonly<Record<SortBy, string>> = {
  tvl: 'TVL',
  apr: 'Estimated APR',
  name: 'Name',
  type: 'Type',
  curator: 'Curator',
  provider: 'Provider',
  tvlD1: 'TVL, 1 day',
  tvlD7: 'TVL, 7 days',
  tvlD30: 'TVL, 30 days',
  lpsD1: 'Depositors, 1 day',
  lpsD7: 'Depositors, 7 days',
  lpsD30: 'Depositors, 30 days',
  growthApyD1: 'APY, 1 day',
  growthApyD7: 'APY, 7 days',
  growthApyD30: 'APY, 30 days',
}

const isSort = (text: string | null): text is SortBy => text !== null && Object.hasOwn(sorts, text)
const isText = (sortBy: SortBy) => ['name', 'type', 'curator', 'provider'].includes(sortBy)

/** By TVL, the greatest first, unless the URL says otherwise. */
export function toSort(query: URLSearchParams): { sortBy: SortBy; sortOrder: 'asc' | 'desc' } {
  const given = query.get('sortBy')
  const sortBy = isSort(given) ? given : 'tvl'
  const order = query.get('sortOrder')
  return { sortBy, sortOrder: order === 'asc' || order === 'desc' ? order : isText(sortBy) ? 'asc' : 'desc' }
}

/** Changes filters; the list begins anew. */
export const withFilters = (query: URLSearchParams, changes: Readonly<Record<string, string | undefined>>) =>
  withQuery(query, { ...changes, page: undefined })

export const countFilters = (query: URLSearchParams): number =>
  [...new Set(query.keys())].filter((name) => filters.includes(name) && query.get(name)).length

/** Without filters; the order stays. */
export const withoutFilters = (query: URLSearchParams) =>
  withFilters(query, Object.fromEntries(filters.map((name) => [name, undefined])))
