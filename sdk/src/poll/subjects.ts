import type { EarnClient } from '../client/client.js'
import { EarnError } from '../client/error.js'
import { getWalletPortfolio, getWalletRequests, listOpportunities } from '../client/generated/operations.js'
import type * as types from '../client/generated/types.js'

/** Something that a page shows and that changes: how it is read, and how often. */
export type Subject<T> = {
  /** The same for the same thing: everybody who watches it shares one poll. */
  key: string
  /** Reads it; undefined where it is as it was, which only `isKnown` allows: its watchers have a value. */
  read(earn: EarnClient, signal: AbortSignal, isKnown: boolean): Promise<T | undefined>
  /** The first pause in milliseconds, the factor by which it grows while nobody does anything, and the longest. */
  pace: { first: number; factor: number; longest: number }
  /** Whether nothing will change any more: it is not read again. */
  isOver?(value: T): boolean
}

const minute = 60_000

/** A portfolio costs most, and its values move all the time: it is read often only after something was done. */
export const portfolioOf = (address: string): Subject<types.GetWalletPortfolioResult> => ({
  key: `portfolio ${address.toLowerCase()}`,
  read: (earn, signal) => getWalletPortfolio(earn, { address: address as `0x${string}` }, { signal }),
  pace: { first: minute, factor: 4, longest: 60 * minute },
})

/** Deposits and withdrawals that vaults have not completed. */
export const requestsOf = (address: string): Subject<types.GetWalletRequestsResult> => ({
  key: `requests ${address.toLowerCase()}`,
  read: (earn, signal) => getWalletRequests(earn, { address: address as `0x${string}` }, { signal }),
  pace: { first: minute, factor: 3, longest: 30 * minute },
})

/** A page of the catalogue, whose `ETag` says whether it is another one. */
export function opportunitiesOf(params: types.ListOpportunitiesParams = {}): Subject<types.ListOpportunitiesResult> {
  let etag: string | null = null
  return {
    key: `opportunities ${JSON.stringify(params)}`,
    read: async (earn, signal, isKnown) => {
      const onResponse: EarnClient['onResponse'] = (info) => {
        etag = info.headers.get('etag') ?? etag
        earn.onResponse?.(info)
      }
      try {
        const headers = etag === null || !isKnown ? {} : { 'if-none-match': etag }
        return await listOpportunities({ ...earn, onResponse }, params, { signal, headers })
      } catch (error) {
        if (error instanceof EarnError && error.code === 304) return undefined
        throw error
      }
    },
    pace: { first: 15 * minute, factor: 2, longest: 60 * minute },
  }
}
