/**
 * Traces of requests: which of them are followed, the statements and calls that they wait for, and the collector that is told.
 * Without the setting of a collector nothing of it is made.
 */

import { Counter, type Registry } from 'prom-client'
import type { Clock } from '../../kernel/clock.js'
import type { Config } from '../../kernel/config.js'
import type { Log } from '../../kernel/log.js'
import { type Outbound, OutboundError } from '../../kernel/outbound.js'
import type { Shutdown } from '../shutdown.js'
import { describeCall } from './describe.js'
import { createExporter, type SpanOutcome } from './exporter.js'
import { createSpans, type Spans } from './spans.js'

export type TracesOptions = {
  config: Pick<Config, 'tracesUrl' | 'tracesPercent'>
  clock: Clock
  log: Log
  outbound: Outbound
  registry: Registry
  shutdown: Shutdown
}

/** Requests that are followed, and told to the collector of the settings; undefined where there is none. */
export function openTraces(options: TracesOptions): Spans | undefined {
  const { config, clock, log, outbound, registry, shutdown } = options
  if (config.tracesUrl === undefined) return undefined
  const counter = new Counter({
    name: 'openearn_spans_total',
    help: 'Spans by outcome: sent, dropped because too many waited, failed because the collector did not take them',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const onOutcome = (outcome: SpanOutcome, count: number) => counter.inc({ outcome }, count)
  for (const outcome of ['sent', 'dropped', 'failed'] as const) onOutcome(outcome, 0)
  const resource = { 'service.name': 'openearn', 'process.pid': process.pid }
  const exporter = createExporter({ url: config.tracesUrl, outbound, log, resource, onOutcome })
  shutdown.add('traces', exporter.stop)
  return createSpans({ ratio: config.tracesPercent / 100, clock, onSpan: exporter.add })
}

/** The same way out of the process, told in spans. */
export function followCalls(outbound: Outbound, spans: Spans | undefined): Outbound {
  if (!spans) return outbound
  return {
    fetchText: (request) =>
      spans.isFollowed()
        ? spans.child(describeCall(request), () => outbound.fetchText(request), nameFailure)
        : outbound.fetchText(request),
  }
}

const nameFailure = (error: unknown) =>
  error instanceof OutboundError ? String(error.httpStatus ?? error.kind) : 'other'
