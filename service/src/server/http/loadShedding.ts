import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Clock, systemClock } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import { unavailable } from '../../kernel/errors.js'
import type { Log } from '../../kernel/log.js'
import { createRepeats } from '../repeats.js'
import { single } from './admit.js'
import type { Turns } from './turns.js'

const tickMs = 50
/** For how long a caller stands for the lateness that its heavy requests caused. */
const rememberedMs = 1_000

/**
 * Refuses requests while the event loop is late: everybody would wait longer than they do anyway, callers give up and ask
 * again, and the process never catches up. A refusal costs next to nothing, so the loop is soon on time again. The first to be
 * refused is the caller whose heavy requests were under way for most of the lateness of the last second; the others are served
 * until the loop is twice as late.
 */
export function shedLoad(
  app: FastifyInstance,
  { log, config }: { log: Log; config: Pick<Config, 'eventLoopDelayMaxMs'> },
  turns: Pick<Turns, 'readHolders' | 'peekHolders'>,
  onShed: () => void = () => undefined,
  /** The event loop's own time, whatever time the service goes by. */
  clock: Clock = systemClock,
): void {
  const most = config.eventLoopDelayMaxMs
  if (most === 0) return
  const lateness = createLateness(clock)
  const blame = createBlame(clock)
  const repeats = createRepeats(clock)
  let ticking: NodeJS.Timeout | undefined
  const tick = () => {
    lateness.tick()
    blame.add(lateness.read(), turns.readHolders())
  }
  app.addHook('onListen', async () => {
    tick()
    ticking = setInterval(tick, tickMs)
    ticking.unref()
  })
  app.addHook('onClose', async () => clearInterval(ticking))
  app.addHook('onRequest', async (request) => {
    const lateMs = lateness.read()
    if (lateMs <= most) return
    // The turn of the loop that is late now may not have been counted yet.
    const first = blame.most() ?? turns.peekHolders()[0]
    if (lateMs <= 2 * most && first !== undefined && first !== callerOf(request)) return
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

/** Who calls, as far as is known before a key is looked up: an address, and of those that share a publishable key each its own. */
export function callerOf({ headers, ip }: Pick<FastifyRequest, 'headers' | 'ip'>): string {
  return `${ip} ${single(headers['x-api-key']) ?? headers.authorization ?? ''}`
}

/** Which caller stands for most of the lateness of the last second: each turn's is divided among those with heavy requests. */
export function createBlame(clock: Pick<Clock, 'monotonicMs'>) {
  let turns: { at: number; lateMs: number; holders: readonly string[] }[] = []
  return {
    add: (lateMs: number, holders: readonly string[]) => {
      const at = clock.monotonicMs()
      turns = turns.filter((turn) => at - turn.at < rememberedMs)
      if (lateMs > 0 && holders.length > 0) turns.push({ at, lateMs, holders })
    },
    most: (): string | undefined => {
      const at = clock.monotonicMs()
      const sums = new Map<string, number>()
      for (const turn of turns)
        if (at - turn.at < rememberedMs)
          for (const holder of turn.holders)
            sums.set(holder, (sums.get(holder) ?? 0) + turn.lateMs / turn.holders.length)
      let most: [string, number] | undefined
      for (const each of sums) if (most === undefined || each[1] > most[1]) most = each
      return most?.[0]
    },
  }
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
