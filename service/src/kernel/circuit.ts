import type { Clock } from './clock.js'
import { OutboundError } from './outbound.js'

/** Spares another system that keeps failing. The caller opens one circuit for each url and purpose. */
export type Circuit = {
  /** Failures in a row. */
  failures(): number
  /** Why it is not to be asked now; undefined when it may be. */
  findRefusal(): OutboundError | undefined
  onAnswer(): void
  onFailure(): void
}

const failuresMax = 5
const openMs = 5_000

/** A circuit to one host: after 5 failures in a row it is not asked for 5 s. */
export function createCircuit(host: string, clock: Pick<Clock, 'monotonicMs'>): Circuit {
  let failures = 0
  let openUntilMs = Number.NEGATIVE_INFINITY
  return {
    failures: () => failures,
    findRefusal: () => {
      const leftMs = openUntilMs - clock.monotonicMs()
      if (leftMs <= 0) return undefined
      return new OutboundError('open', `${host} failed ${failures} times in a row; not asked again yet`, leftMs)
    },
    onAnswer: () => {
      failures = 0
      openUntilMs = Number.NEGATIVE_INFINITY
    },
    onFailure: () => {
      failures += 1
      if (failures >= failuresMax) openUntilMs = clock.monotonicMs() + openMs
    },
  }
}
