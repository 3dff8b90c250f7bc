import type { Context } from '../postgres/context.js'
import { isNext, isTooMany } from '../sync/share.js'
import { type FencedLock, openWatcherLocks } from '../sync/storeLocks.js'

/** The part of the chains that a process follows, so that several have about as many each. */
export type Shares = {
  /** The lock of a chain, once it is free and this process's turn. */
  take(chainId: number): Promise<FencedLock | undefined>
  /** Whether a chain is to be left to a process that follows fewer; true for one chain at a time. */
  isLeft(chainId: number): Promise<boolean>
  close(): Promise<void>
}

/** How long a free chain is left to those whose turn it is: they may not be able to read it. */
const othersMs = 4_000
/** How long after a chain was left the next one is. */
const nextMs = 4_000
/** How long a chain stays that those whose turn it was have not taken. */
const keptMs = 60_000

export function shareChains({ db, clock }: Pick<Context, 'db' | 'clock'>, chainIds: readonly number[]): Shares {
  const locks = openWatcherLocks(db, chainIds)
  const freeSinceMs = new Map<number, number>()
  const keptUntilMs = new Map<number, number>()
  let leftMs: number | undefined
  return {
    take: async (chainId) => {
      const { own, watchers } = await locks.look()
      const nowMs = clock.monotonicMs()
      if (watchers.some(({ held }) => held.includes(chainId))) {
        freeSinceMs.delete(chainId)
        return undefined
      }
      const sinceMs = freeSinceMs.get(chainId) ?? nowMs
      freeSinceMs.set(chainId, sinceMs)
      if (!isNext(watchers, own, chainId)) {
        if (nowMs - sinceMs < othersMs) return undefined
        keptUntilMs.set(chainId, nowMs + keptMs)
      }
      return locks.take(chainId)
    },
    isLeft: async (chainId) => {
      const { own, watchers } = await locks.look()
      const nowMs = clock.monotonicMs()
      if (nowMs < Math.max((leftMs ?? nowMs - nextMs) + nextMs, keptUntilMs.get(chainId) ?? 0)) return false
      if (!isTooMany(watchers, own, chainId)) return false
      leftMs = nowMs
      return true
    },
    close: locks.close,
  }
}
