import {
  type EarnClient,
  type EarnError,
  getIndexingStatus,
  getOpportunity,
  getOpportunityHistorical,
  getStreamsForWallet,
  getWalletActivity,
  getWalletPortfolio,
  getWalletRequests,
  listInteractions,
  listOpportunities,
  type types,
} from '@openearn/sdk'
import { type InfiniteData, infiniteQueryOptions, type QueryKey, queryOptions } from '@tanstack/react-query'
import { paces } from './rhythm.js'

/** A list whose pages are asked for one by one. */
type Paged<P> = Omit<P, 'page' | 'after'>

/** A page of items, and where it stands. */
type Page = { pagination?: types.Pagination }

/** Items of all pages that were read, and how many there are in all. */
export type Listed<Item> = { items: Item[]; total: number }

/** The first member of every key here. Two services in one page have a QueryClient each. */
export const root = 'openearn'

/** Reads that change by what a wallet does. */
const walletNames: readonly unknown[] = ['portfolio', 'requests', 'rewards', 'activity', 'interactions']

/** Whether a query changes by what a wallet did. */
export const isOfWallet = ({ queryKey }: { queryKey: QueryKey }): boolean =>
  queryKey[0] === root && walletNames.includes(queryKey[1])

/** The same for the same request: an address may be written in any case. */
const keyOf = (name: string, params: object = {}) => [root, name, JSON.parse(JSON.stringify(params, lower))]
const lower = (_: string, value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : value

/** The client repeats by itself what may succeed when it is repeated. */
const common = { retry: false as const }

/** Pages of one list, as Query keeps them. */
function pages<R extends Page, Item>(
  key: QueryKey,
  staleTime: number,
  read: (page: number, signal: AbortSignal) => Promise<R>,
  itemsOf: (page: R) => Item[],
) {
  return infiniteQueryOptions<R, EarnError, Listed<Item>, QueryKey, number>({
    ...{ ...common, queryKey: key, staleTime, initialPageParam: 1 },
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ pagination }) =>
      pagination && pagination.page < pagination.totalPages ? pagination.page + 1 : undefined,
    select: ({ pages: all }: InfiniteData<R>) => ({
      items: all.flatMap(itemsOf),
      total: all.at(-1)?.pagination?.total ?? 0,
    }),
  })
}

/** ListOpportunities, page by page. */
export const opportunitiesQuery = (earn: EarnClient, params: Paged<types.ListOpportunitiesParams> = {}) =>
  pages(
    keyOf('opportunities', params),
    paces.catalogue.first,
    (page, signal) => listOpportunities(earn, { ...params, page }, { signal }),
    ({ data }) => data,
  )

/** ListInteractions, page by page. */
export const interactionsQuery = (earn: EarnClient, params: Paged<types.ListInteractionsParams> = {}) =>
  pages(
    keyOf('interactions', params),
    paces.wallet.first,
    (page, signal) => listInteractions(earn, { ...params, page }, { signal }),
    ({ data }) => data,
  )

/** GetWalletActivity, page by page: deposits and withdrawals of wallets. */
export const activityQuery = (earn: EarnClient, params: Paged<types.GetWalletActivityParams>) =>
  pages(
    keyOf('activity', params),
    paces.wallet.first,
    (page, signal) => getWalletActivity(earn, { ...params, page }, { signal }),
    ({ activity }) => activity,
  )

const one = <R>(name: string, params: object, staleTime: number, read: (signal: AbortSignal) => Promise<R>) =>
  queryOptions<R, EarnError>({
    ...{ ...common, queryKey: keyOf(name, params), staleTime },
    queryFn: ({ signal }) => read(signal),
  })

/** GetOpportunity. */
export const opportunityQuery = (earn: EarnClient, params: types.GetOpportunityParams) =>
  one('opportunity', params, paces.catalogue.first, (signal) => getOpportunity(earn, params, { signal }))

/** A range of time: from an instant, or the last days. A new `Date` in each render would be a new request each time. */
export type HistoryParams = Omit<types.GetOpportunityHistoricalParams, 'startDate'> &
  ({ startDate: string | Date; days?: undefined } | { days: number; startDate?: undefined })

/** GetOpportunityHistorical: TVL, share price and APY over time. */
export const historyQuery = (earn: EarnClient, params: HistoryParams) =>
  one('history', params, paces.catalogue.first, (signal) => {
    const { days, startDate = startOf(days), ...rest } = params
    return getOpportunityHistorical(earn, { ...rest, startDate }, { signal })
  })

/** A minute is left out: the service takes at most 365 days, and a request takes its time. */
const startOf = (days = 1) => new Date(Date.now() - days * 86_400_000 + 60_000)

/** GetWalletPortfolio. */
export const portfolioQuery = (earn: EarnClient, params: types.GetWalletPortfolioParams) =>
  one('portfolio', params, paces.portfolio.first, (signal) => getWalletPortfolio(earn, params, { signal }))

/** GetWalletRequests: deposits and redemptions that wait for their vault. */
export const requestsQuery = (earn: EarnClient, params: types.GetWalletRequestsParams) =>
  one('requests', params, paces.wallet.first, (signal) => getWalletRequests(earn, params, { signal }))

/** GetStreamsForWallet: what reward streams hold for a wallet. */
export const rewardsQuery = (earn: EarnClient, params: types.GetStreamsForWalletParams) =>
  one('rewards', params, paces.wallet.first, (signal) => getStreamsForWallet(earn, params, { signal }))

/** GetIndexingStatus: how far the service follows each chain and vault. */
export const statusQuery = (earn: EarnClient, params: types.GetIndexingStatusParams = {}) =>
  one('status', params, paces.wallet.first, (signal) => getIndexingStatus(earn, params, { signal }))
