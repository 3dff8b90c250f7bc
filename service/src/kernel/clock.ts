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

/**
 * Parses an RFC 3339 date-time with `Z` or an offset (a space where `+` stood is read as `+`); undefined for anything
 * else, calendar nonsense included.
 */
export function parseTs(text: string): Date | undefined {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+ -])(\d{2}):(\d{2}))$/.exec(text)
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  const offsetHour = Number(match[9] ?? 0)
  const offsetMinute = Number(match[10] ?? 0)
  if (day < 1 || day > daysInMonth(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined
  const ms = Math.floor(Number(`0.${match[7] ?? ''}`) * 1000)
  const local = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  const at = new Date(local)
  if (year < 100) at.setUTCFullYear(year)
  const sign = match[8] === '-' ? -1 : 1
  const instant = new Date(at.getTime() - sign * (offsetHour * 60 + offsetMinute) * 60_000)
  // Second 60 exists only as a leap second: the last of a UTC day, read as the first instant of the next.
  if (second === 60 && (instant.getTime() - ms) % 86_400_000 !== 0) return undefined
  return instant
}

/** 0 where there is no such month. */
function daysInMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}
