import { systemClock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Outbound } from '../../kernel/outbound.js'
import { encodeSpans } from './otlp.js'
import type { Span, SpanAttributes } from './spans.js'

export type SpanOutcome = 'sent' | 'dropped' | 'failed'

export type Exporter = {
  add(span: Span): void
  /** Sends what waits, once, and ends. */
  stop(): Promise<void>
}

/** Spans that wait at most, and those of one call. */
const waitingMax = 2_048
const callMax = 512
const everyMs = 5_000
/** After which a collector counts as away. */
const timeoutMs = 3_000

export type ExporterOptions = {
  url: string
  outbound: Outbound
  log: Log
  resource: SpanAttributes
  onOutcome: (outcome: SpanOutcome, count: number) => void
  clock?: { sleep(ms: number, signal?: AbortSignal): Promise<void> }
}

/** Sends spans to a collector every few seconds. Where it is away or slow, spans are counted and lost, and nothing waits for it. */
export function createExporter(options: ExporterOptions): Exporter {
  const { url, outbound, log, resource, onOutcome, clock = systemClock } = options
  const waiting: Span[] = []
  const stopping = new AbortController()
  let isFailing = false
  const send = async () => {
    const spans = waiting.splice(0, callMax)
    if (spans.length === 0) return
    const headers = { 'content-type': 'application/json' }
    const request = { url, method: 'POST', headers, body: encodeSpans(spans, resource), timeoutMs, retries: 0 } as const
    try {
      await outbound.fetchText(request)
      onOutcome('sent', spans.length)
      isFailing = false
    } catch (error) {
      onOutcome('failed', spans.length)
      if (!isFailing)
        log.warn({ err: error }, 'the collector of traces does not take them; they are lost until it does')
      isFailing = true
    }
  }
  const run = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal)
      // As many calls as there were when the time came: what comes meanwhile waits for its turn.
      for (let calls = Math.ceil(waiting.length / callMax); calls > 0; calls--) {
        await send()
        if (isFailing) break
      }
    }
    while (waiting.length > 0 && !isFailing) await send()
    if (waiting.length > 0) onOutcome('failed', waiting.length)
  }
  const running = run()
  return {
    add: (span) => {
      if (waiting.length >= waitingMax) return onOutcome('dropped', 1)
      waiting.push(span)
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}
