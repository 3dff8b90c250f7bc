import type { EarnClient } from '@openearn/sdk'

/** How often something is read while nobody does anything: the first pause in milliseconds, its growth, and the longest. */
export type Pace = { first: number; factor: number; longest: number }

const minute = 60_000

/** The same pauses as those of the poller of `@openearn/sdk/flows`: an hour of all of them costs a page at most 60 units. */
export const paces = {
  /** Costs most, and its values move all the time: it is read often only after something was done. */
  portfolio: { first: minute, factor: 4, longest: 60 * minute },
  wallet: { first: minute, factor: 3, longest: 30 * minute },
  catalogue: { first: 15 * minute, factor: 2, longest: 60 * minute },
} satisfies Record<string, Pace>

/** While less than this part of the key's hour is left, everything is read as much more slowly. */
const low = { part: 0.1, slower: 4 }

/** The pauses of a page depend on these. */
export type Rhythm = {
  /** Unix milliseconds: when something was last done. */
  since: number
  /** The part of the key's hour that is left. */
  left: number
}

export const createRhythm = (): Rhythm => ({ since: 0, left: 1 })

/** The same client, whose answers tell how much of the key's hour is left. */
export function follow(earn: EarnClient, rhythm: Rhythm): EarnClient {
  return {
    ...earn,
    onResponse: (info) => {
      const limit = Number(info.headers.get('x-ratelimit-limit'))
      if (info.remaining !== undefined && limit > 0) rhythm.left = info.remaining / limit
      earn.onResponse?.(info)
    },
  }
}

type Read = { state: { dataUpdatedAt: number; errorUpdatedAt: number } }

/** When a query of a page was first read. */
const starts = new WeakMap<Read, number>()

/**
 * The pause before the next read, computed from the time of the last one: it stays the same between two reads, as Query begins
 * the wait anew where it changes.
 */
export function pauseOf(query: Read, { first, factor, longest }: Pace, { since, left }: Rhythm): number {
  const last = Math.max(query.state.dataUpdatedAt, query.state.errorUpdatedAt)
  const start = starts.get(query) ?? last
  if (last > 0) starts.set(query, start)
  // Pauses that grow by a factor: after n of them, n + 1 is the first and (factor - 1) times what has passed.
  const passed = Math.max(0, last - Math.max(start, since))
  const pause = Math.min(longest, first + (factor - 1) * passed)
  return left < low.part ? pause * low.slower : pause
}
