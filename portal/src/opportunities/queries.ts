import {
  type EarnClient,
  type EarnError,
  getOpportunityFilterOptions,
  listOpportunities,
  type types,
} from '@openearn/sdk'
import { queryOptions } from '@tanstack/react-query'
import { toParams } from './query.js'

/** The opportunities of a URL's query. */
export function listQuery(earn: EarnClient, query: URLSearchParams) {
  const params = toParams(query)
  return queryOptions<types.ListOpportunitiesResult, EarnError>({
    queryKey: ['portal', 'opportunities', params],
    queryFn: ({ signal }) => listOpportunities(earn, params, { signal }),
    ...{ staleTime: 60_000, refetchInterval: 300_000, retry: false },
  })
}

/** The values that the list can be filtered by. */
export const filtersQuery = (earn: EarnClient) =>
  queryOptions({
    queryKey: ['portal', 'options'],
    queryFn: ({ signal }) => getOpportunityFilterOptions(earn, {}, { signal }),
    ...{ staleTime: 900_000, retry: false },
  })
