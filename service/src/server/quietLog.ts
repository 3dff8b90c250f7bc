import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import { hasNoRoom, isDatabaseUnavailable } from '../postgres/pool.js'
import { createRepeats } from './repeats.js'

export const noRoom =
  'the database has no room left on its disk: nothing was written and nothing is lost; make room, everything then goes on by itself'

/**
 * The log of a process that reports a lasting state once, and then once a minute, for all parts that meet it: a node that is gone
 * fails the watcher, the jobs and requests, and is one fact. A 500 is always written: callers are told to quote its id.
 */
export function createQuietLog(log: Log, clock: Pick<Clock, 'monotonicMs'>): Log {
  const repeats = createRepeats(clock)
  const quiet = (inner: Log, chainId?: unknown): Log => {
    const write =
      (level: 'warn' | 'error'): Log['warn'] =>
      (...words: [string] | [object, string]) => {
        const [fields, message] = words
        const state = typeof fields === 'object' ? findState({ chainId, ...fields }, message ?? '') : undefined
        if (state === undefined) return (inner[level] as (...all: unknown[]) => void)(...words)
        repeats.say(state, (times) =>
          inner[level](
            times > 1 ? { ...(fields as object), times } : (fields as object),
            // Who meets it first may be anybody; an operator is to read what helps.
            state === noRoom ? noRoom : (message ?? ''),
          ),
        )
      }
    const { debug, info } = inner
    return {
      debug: debug.bind(inner),
      info: info.bind(inner),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => quiet(inner.child(fields), 'chainId' in fields ? fields['chainId'] : chainId),
    }
  }
  return quiet(log)
}

/** The lasting state behind a line; undefined for a line that is always written. */
function findState(fields: object, message: string): string | undefined {
  const { err, code, chainId } = fields as { err?: unknown; code?: unknown; chainId?: unknown }
  if (!(err instanceof Error) || code === 500) return undefined
  for (let error: unknown = err; error instanceof Error; error = error.cause) {
    if (error instanceof OutboundError && goneKinds.has(error.kind)) return `host ${error.message.split(' ')[0]}`
    if (hasNoRoom(error)) return noRoom
    if (isDatabaseUnavailable(error)) return 'database'
  }
  const said = `${message} ${err.name} ${err.message}`.replace(/0x[0-9a-f]+|[0-9]+/gi, '0')
  return chainId === undefined ? said : `${chainId}: ${said}`
}

/** Failures to get an answer, whose message begins with the host. */
const goneKinds: ReadonlySet<string> = new Set(['timeout', 'network', 'rate-limited', 'server', 'open', 'busy'])
