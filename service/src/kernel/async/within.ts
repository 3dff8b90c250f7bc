import type { Clock } from '../clock.js'

/**
 * Waits for work at most `ms` milliseconds, then returns what `late` returns, or throws what it throws. The work goes on;
 * a failure that comes too late is nobody's.
 */
export async function within<T, L>(
  work: Promise<T>,
  { clock, ms }: { clock: Pick<Clock, 'sleep'>; ms: number },
  late: () => L | PromiseLike<L>,
): Promise<T | L> {
  const settled = new AbortController()
  const waited = clock
    .sleep(ms, settled.signal)
    .then(async (): Promise<T | L> => (settled.signal.aborted ? work : late()))
  try {
    return await Promise.race([work, waited])
  } finally {
    settled.abort()
    // Both may settle after the race; the failure of the loser has no receiver.
    waited.catch(() => undefined)
    work.catch(() => undefined)
  }
}
