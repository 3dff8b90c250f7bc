/** Time as the service sees it. The only place where the wall clock is read. */
export type Clock = {
  /** The present instant. */
  now(): Date
  /** Milliseconds since an arbitrary start; never runs backwards. For durations only. */
  monotonicMs(): number
  /** Resolves after `ms` milliseconds, at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** A clock that stands still until told otherwise, for tests. `sleep` advances it and returns at once. */
export function fakeClock(start: string | Date): Clock & { set(at: string | Date): void; advance(ms: number): void } {
  let at = new Date(start).getTime()
  return {
    now: () => new Date(at),
    monotonicMs: () => at,
    sleep: async (ms) => {
      at += ms
    },
    set: (value) => {
      at = new Date(value).getTime()
    },
    advance: (ms) => {
      at += ms
    },
  }
}

export const daySeconds = 86_400

/** Unix seconds of an instant, rounded down. */
export function toUnixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}

/** The instant of a count of Unix seconds. */
export function fromUnixSeconds(seconds: number | bigint): Date {
  return new Date(Number(seconds) * 1000)
}

/** An instant in RFC 3339, UTC, ending in `Z`; whole seconds carry no fraction. */
export function formatTs(at: Date): string {
  return at.toISOString().replace('.000Z', 'Z')
}
