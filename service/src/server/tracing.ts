import { openFastRecover } from '../derive/index.js'
import type { Context } from '../postgres/context.js'
import type { Chain } from '../rpc/chains.js'
import { createTracer } from '../rpc/tracer.js'
import type { Tracing } from '../sync/steps/step.js'

const waitSecondsDefault = 600

/** How a chain's nodes are asked how transactions ran; undefined for a chain whose urls nobody asks that. No call is made. */
export function openTracing(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  chain: Pick<Chain, 'traceRpcs' | 'trustTraces' | 'traceWaitSeconds'>,
): Tracing | undefined {
  const { traceRpcs, trustTraces: trusts = false, traceWaitSeconds: waitSeconds = waitSecondsDefault } = chain
  if (!traceRpcs || traceRpcs.length === 0) return undefined
  return { tracer: createTracer(traceRpcs, { recover: openFastRecover(), clock, log, trusts }), waitSeconds, trusts }
}
