import { type Clock, systemClock } from '../kernel/clock.js'

/** Tells every pool and listener of one database that its connections may lead to a server that is the primary no more. */
export type Renewal = {
  /** A server has refused a change. */
  renew(): void
  /** Calls `listener` when connections are to be opened anew, until the function it returns is called. */
  onRenew(listener: () => void): () => void
}

/** A server that stays read-only is met again by each new connection. */
const restMs = 1_000

export function createRenewal(clock: Pick<Clock, 'monotonicMs'> = systemClock): Renewal {
  const listeners = new Set<() => void>()
  let renewedMs: number | undefined
  return {
    renew: () => {
      const nowMs = clock.monotonicMs()
      if (renewedMs !== undefined && nowMs - renewedMs < restMs) return
      renewedMs = nowMs
      for (const listener of [...listeners]) listener()
    },
    onRenew: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
