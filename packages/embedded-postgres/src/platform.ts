/** The clock, log and connector that starting a server needs. The service's own fit these. */

export type Log = Record<
  'info' | 'warn' | 'error',
  { (message: string): void; (fields: object, message: string): void }
>

export type DatabaseTarget = { host: string; port: number; database: string; username: string; password?: string }

export const systemClock = {
  /** Resolves after `ms` milliseconds, at once when `signal` aborts. */
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
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
