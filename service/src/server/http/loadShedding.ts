import type { FastifyInstance } from 'fastify'
import { type Clock, systemClock } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import { unavailable } from '../../kernel/errors.js'
import type { Log } from '../../kernel/log.js'
import { createRepeats } from '../repeats.js'

const tickMs = 50

/**
 * Refuses requests while the event loop is late: everybody would wait longer than they do anyway, callers give up and ask
 * again, and the process never catches up. A refusal costs next to nothing, so the loop is soon on time again.
 */
export function shedLoad(
  app: FastifyInstance,
  { log, config }: { log: Log; config: Pick<Config, 'eventLoopDelayMaxMs'> },
  onShed: () => void = () => undefined,
  /** The event loop's own time, whatever time the service goes by. */
  clock: Clock = systemClock,
): void {
  const most = config.eventLoopDelayMaxMs
  if (most === 0) return
  const lateness = createLateness(clock)
  const repeats = createRepeats(clock)
  let ticking: NodeJS.Timeout | undefined
  app.addHook('onListen', async () => {
    lateness.tick()
    ticking = setInterval(lateness.tick, tickMs)
    ticking.unref()
  })
  app.addHook('onClose', async () => clearInterval(ticking))
  app.addHook('onRequest', async () => {
    const lateMs = lateness.read()
    if (lateMs <= most) return
    onShed()
    repeats.say('late', (times) =>
      log.warn(
        { lateMs: Math.round(lateMs), requests: times },
        'more is asked than this process can do: requests are refused',
      ),
    )
    throw unavailable('the service is overloaded; try again shortly', { retryAfterSeconds: 1 })
  })
}

/** How late what is due on the event loop is: at its last turn, or already now. Zero before the first tick. */
export function createLateness(clock: Pick<Clock, 'monotonicMs'>) {
  let dueMs: number | undefined
  let lateMs = 0
  return {
    tick: () => {
      const nowMs = clock.monotonicMs()
      lateMs = dueMs === undefined ? 0 : nowMs - dueMs
      dueMs = nowMs + tickMs
    },
    read: () => (dueMs === undefined ? 0 : Math.max(lateMs, clock.monotonicMs() - dueMs)),
  }
}
