import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { within } from '../kernel/async/within.js'
import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import type { Metrics } from './ops/metrics.js'

/** The process that watches for one that serves: reading a chain then takes no time from callers. */
export type WatcherProcess = {
  /** Its process, while there is one. */
  pid(): number | undefined
  /** Its metrics, unless it is too busy to tell. */
  readMetrics(): Promise<string | undefined>
  stop(): Promise<void>
}

/** How long it is waited before one that ended is started again: longer each time, until one has lasted a minute. */
const restart = { firstMs: 250, longestMs: 15_000, lastedMs: 60_000 }
const metricsMs = 1_000
/** How long one that is asked to stop may take. */
const stopMs = 10_000

type Ask = { id: number; ask: 'metrics' }
type Answer = { id: number; metrics: string }

/** Keeps a process that watches running until stopped, however it ends. Its log goes where that of this process goes. */
export function startWatcherProcess(input: {
  fork: () => ChildProcess
  log: Log
  clock: Clock
  /** Aborts when this process begins to stop: one that ends from then on is not missed. */
  signal: AbortSignal
}): WatcherProcess {
  const { fork, log, clock, signal } = input
  const waiting = new Map<number, (text: string) => void>()
  let asked = 0
  let child: ChildProcess | undefined

  const runOnce = async (): Promise<string> => {
    const started = fork()
    child = started
    started.on('message', ({ id, metrics }: Answer) => waiting.get(id)?.(metrics))
    try {
      const [code, signal] = (await once(started, 'exit')) as [number | null, NodeJS.Signals | null]
      return signal === null ? `with ${code}` : `by ${signal}`
    } catch (error) {
      return `before it began: ${error instanceof Error ? error.message : error}`
    } finally {
      child = undefined
    }
  }
  const run = async () => {
    for (let waitMs = restart.firstMs; !signal.aborted; ) {
      const startedMs = clock.monotonicMs()
      const how = await runOnce()
      if (signal.aborted) return
      if (clock.monotonicMs() - startedMs > restart.lastedMs) waitMs = restart.firstMs
      log.error({ err: new Error(`it ended ${how}`) }, 'the watcher process ended and is started again')
      await clock.sleep(waitMs, signal)
      waitMs = Math.min(waitMs * 2, restart.longestMs)
    }
  }
  const running = run()
  return {
    pid: () => child?.pid,
    readMetrics: async () => {
      if (!child?.connected) return undefined
      asked += 1
      const id = asked
      const answered = new Promise<string>((resolve) => waiting.set(id, resolve))
      child.send({ id, ask: 'metrics' } satisfies Ask)
      return within(answered, { clock, ms: metricsMs }, () => undefined).finally(() => waiting.delete(id))
    },
    stop: async () => {
      const last = child
      // It takes the end of the channel for the word to stop, as it does when this process is killed.
      if (last?.connected) last.disconnect()
      await within(running, { clock, ms: stopMs }, () => {
        last?.kill('SIGKILL')
        return running
      })
    },
  }
}

/** Responds to the process that this one watches for. */
export function answerParent({ registry }: Pick<Metrics, 'registry'>): void {
  registry.setDefaultLabels({ process: 'watcher' })
  process.on('message', ({ id, ask }: Ask) => {
    if (ask !== 'metrics') return
    registry.metrics().then(
      (metrics) => process.send?.({ id, metrics } satisfies Answer),
      () => process.send?.({ id, metrics: '' } satisfies Answer),
    )
  })
}
