'use client'

import type { EarnError, types } from '@openearn/sdk'
import { type UseInfiniteQueryResult, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type EarnContext, useEarnContext } from './context.js'
import {
  activityQuery,
  type HistoryParams,
  historyQuery,
  interactionsQuery,
  type Listed,
  opportunitiesQuery,
  opportunityQuery,
  portfolioQuery,
  requestsQuery,
  rewardsQuery,
  statusQuery,
} from './queries.js'
import { type Pace, paces, pauseOf } from './rhythm.js'

/** How one hook reads; absent members are as the budget of a key bears it. */
export type ReadOptions = {
  /** False: nothing is read. */
  enabled?: boolean | undefined
  /** Milliseconds during which what was read is not read again where another component shows it. */
  staleTime?: number | undefined
  /** Milliseconds between two reads while it is shown; false: it is read once. */
  refetchInterval?: number | false | undefined
  /** An error is thrown to the next error boundary. */
  throwOnError?: boolean | undefined
}

/** A member that is not known yet: nothing is read until it is. */
type Late<P, K extends keyof P> = Omit<P, K> & { [Member in K]: P[Member] | undefined }

type Query = Parameters<typeof pauseOf>[0]

/** Members of a query that the caller sets, and its pauses. */
function toOptions({ rhythm }: EarnContext, pace: Pace, isKnown: boolean, options: ReadOptions) {
  const { enabled = true, staleTime, refetchInterval, throwOnError } = options
  return {
    enabled: enabled && isKnown,
    refetchInterval: refetchInterval ?? ((query: Query) => pauseOf(query, pace, rhythm)),
    ...(staleTime === undefined ? {} : { staleTime }),
    ...(throwOnError === undefined ? {} : { throwOnError }),
  }
}

type Result<R> = UseQueryResult<R, EarnError>
type Pages<Item> = UseInfiniteQueryResult<Listed<Item>, EarnError>

/**
 * Vaults, page by page: `data.items` holds all that were read, `fetchNextPage()` reads more. With other filters those of the
 * former ones stay until the new ones are there (`isPlaceholderData`).
 */
export function useOpportunities(
  params: Omit<types.ListOpportunitiesParams, 'page'> = {},
  options: ReadOptions = {},
): Pages<types.Opportunity> {
  const context = useEarnContext()
  return useInfiniteQuery({
    ...opportunitiesQuery(context.earn, params),
    ...toOptions(context, paces.catalogue, true, options),
    placeholderData: (previous) => previous,
  })
}

/** One vault. */
export function useOpportunity(
  params: Late<types.GetOpportunityParams, 'id'>,
  options: ReadOptions = {},
): Result<types.GetOpportunityResult> {
  const context = useEarnContext()
  const { id = '' } = params
  return useQuery({
    ...opportunityQuery(context.earn, { ...params, id }),
    ...toOptions(context, paces.catalogue, id !== '', options),
  })
}

/** TVL, share price and APY of a vault over time. */
export function useHistory(
  params: HistoryParams & { vaultAddress: `0x${string}` | undefined; chainId: number | undefined },
  options: ReadOptions = {},
): Result<types.GetOpportunityHistoricalResult> {
  const context = useEarnContext()
  return useQuery({
    ...historyQuery(context.earn, params),
    ...toOptions(context, paces.catalogue, !!params.vaultAddress && !!params.chainId, options),
  })
}

/** The holdings of a wallet, and what it has earned. */
export function usePortfolio(
  params: Late<types.GetWalletPortfolioParams, 'address'>,
  options: ReadOptions = {},
): Result<types.GetWalletPortfolioResult> {
  const context = useEarnContext()
  const { address = '' } = params
  return useQuery({
    ...portfolioQuery(context.earn, { ...params, address }),
    ...toOptions(context, paces.portfolio, address !== '', options),
  })
}

/** Deposits and redemptions of a wallet that vaults have not completed. */
export function useRequests(
  { address }: Late<types.GetWalletRequestsParams, 'address'>,
  options: ReadOptions = {},
): Result<types.GetWalletRequestsResult> {
  const context = useEarnContext()
  return useQuery({
    ...requestsQuery(context.earn, { address: address ?? '0x' }),
    ...toOptions(context, paces.wallet, address !== undefined, options),
  })
}

/** The reward streams of a wallet. */
export function useRewards(
  params: Late<types.GetStreamsForWalletParams, 'address'>,
  options: ReadOptions = {},
): Result<types.GetStreamsForWalletResult> {
  const context = useEarnContext()
  const { address = '0x' } = params
  return useQuery({
    ...rewardsQuery(context.earn, { ...params, address }),
    ...toOptions(context, paces.wallet, address !== '0x', options),
  })
}

/** Verified deposits and withdrawals of all wallets, page by page. */
export function useInteractions(
  params: Omit<types.ListInteractionsParams, 'page'> = {},
  options: ReadOptions = {},
): Pages<types.ListInteractionsResult['data'][number]> {
  const context = useEarnContext()
  return useInfiniteQuery({
    ...interactionsQuery(context.earn, params),
    ...toOptions(context, paces.wallet, true, options),
  })
}

/** Verified deposits and withdrawals of some wallets, newest first, page by page. */
export function useActivity(
  params: Late<Omit<types.GetWalletActivityParams, 'page'>, 'addresses'>,
  options: ReadOptions = {},
): Pages<types.GetWalletActivityResult['activity'][number]> {
  const context = useEarnContext()
  const { addresses = [] } = params
  return useInfiniteQuery({
    ...activityQuery(context.earn, { ...params, addresses }),
    ...toOptions(context, paces.wallet, addresses.length > 0, options),
  })
}

/** How far the service follows each chain and vault, and what it says of those that it does not. */
export function useEarnStatus(
  params: types.GetIndexingStatusParams = {},
  options: ReadOptions = {},
): Result<types.GetIndexingStatusResult> {
  const context = useEarnContext()
  return useQuery({ ...statusQuery(context.earn, params), ...toOptions(context, paces.wallet, true, options) })
}
