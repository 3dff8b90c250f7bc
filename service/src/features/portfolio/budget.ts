import { within } from '../../kernel/async/within.js'
import { type Clock, systemClock } from '../../kernel/clock.js'

/** A read that did not finish in time. */
export class TooLate extends Error {
  override readonly name = 'TooLate'
}

/** The steps of a portfolio, and the part of the whole each may take at most. */
const parts = { head: 0.3, ask: 0.3, read: 0.9, price: 1, earnings: 0.9 } as const

export type Step = keyof typeof parts

/** The time one request has, shared by its steps. */
export type Budget = {
  /** The work's result, or TooLate: the work goes on, and nobody waits for it. */
  within<T>(work: Promise<T>, step: Step): Promise<T>
}

/** Starts to count. `head` and `ask` may take a part each; `read` and `price` what those before them left. */
export function startBudget(clock: Pick<Clock, 'monotonicMs'>, deadlineMs: number): Budget {
  const startMs = clock.monotonicMs()
  return {
    within: (work, step) => {
      const leftMs = Math.max(0, deadlineMs * (step === 'read' ? parts.read : 1) - (clock.monotonicMs() - startMs))
      const waitMs = Math.min(deadlineMs * parts[step], leftMs)
      return within(work, { clock: systemClock, ms: waitMs }, () => {
        throw new TooLate('it did not answer in time; try again shortly')
      })
    },
  }
}
