import { once } from '../kernel/async/once.js'
import { within } from '../kernel/async/within.js'
import { systemClock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'

type Close = () => Promise<void> | void

export type Shutdown = {
  /** Aborts when stopping begins. */
  readonly signal: AbortSignal
  /** Registers something to close. Closed last in, first out. Once stopping has begun: closes it and throws Stopping. */
  add(name: string, close: Close): void
  /** Closes everything once; later calls wait for the same end. */
  stop(): Promise<void>
}

/** Thrown into whatever is still starting when stopping has begun. Not a failure. */
export class Stopping extends Error {
  override readonly name = 'Stopping'
}

/** A part that does not close in this time is abandoned with a log line: it must not keep the rest from closing. */
const closeMs = 20_000

/**
 * The lifecycle of a process: a signal to end loops, and an ordered list of things to close. A failure to close that
 * `isExpected` is logged at debug level.
 */
export function createShutdown(log: Log, isExpected: (error: unknown) => boolean = () => false): Shutdown {
  const controller = new AbortController()
  const closers: { name: string; close: Close }[] = []
  const late: Promise<void>[] = []
  const closeOne = async (name: string, close: Close) => {
    try {
      await within(Promise.resolve(close()), { clock: systemClock, ms: closeMs }, () =>
        log.error(`${name} did not close in time`),
      )
    } catch (error) {
      // Ctrl-C reaches the whole process group: the embedded database may be gone before we say goodbye to it.
      const write = isExpected(error) ? log.debug : log.error
      write.call(log, { err: error }, `could not close ${name}`)
    }
  }
  const closeAll = async () => {
    controller.abort()
    for (let next = closers.pop(); next; next = closers.pop()) await closeOne(next.name, next.close)
    await Promise.all(late)
  }
  return {
    signal: controller.signal,
    add: (name, close) => {
      if (controller.signal.aborted) {
        late.push(closeOne(name, close))
        throw new Stopping('stopping')
      }
      closers.push({ name, close })
    },
    stop: once(closeAll),
  }
}

/** Stops on SIGINT or SIGTERM. A second signal ends the process at once; the data survives that too. */
export function stopOnSignals(shutdown: Shutdown, log: Log): void {
  let signals = 0
  const onSignal = (name: NodeJS.Signals) => {
    signals += 1
    if (signals > 1) process.exit(1)
    log.info(`${name}: stopping`)
    void shutdown.stop().then(() => process.exit(0))
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
}

/**
 * Stops when the parent process is gone: an `npm` that is killed passes no signal on. For what a person runs in a terminal;
 * a service that a shell left in the background goes on without it.
 */
export function stopWithParent(shutdown: Shutdown, log: Log): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent || shutdown.signal.aborted) return
    clearInterval(timer)
    log.info('parent process is gone: stopping')
    void shutdown.stop().then(() => process.exit(0))
  }, 1000)
  timer.unref()
}
