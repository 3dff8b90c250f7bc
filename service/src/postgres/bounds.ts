import { systemClock } from '../kernel/clock.js'
import { DatabaseLate, DatabaseUnavailable, toDatabaseError } from './errors.js'

/** How long the statements of a pool may take. */
export type Bounds = {
  /** The server ends a statement that waits longer for a lock. */
  lockMs: number
  /** The server ends a statement that takes longer. */
  statementMs: number
  /** Longer than that: a server that has not answered by then hangs, and the connection is cut. */
  answerMs: number
  /** The known state of the server, shared by all its pools. */
  hang?: Hang | undefined
  /** Whether being late here says that the server hangs; without it, only that too much was asked. */
  judges?: boolean
}

/** The bounds of statements that are to be answered by then: the server ends them before the connection is cut. */
export const boundsWithin = (answerMs: number, hang: Hang): Bounds => ({
  lockMs: Math.ceil(answerMs * 0.8),
  statementMs: Math.ceil(answerMs * 0.9),
  answerMs,
  hang,
})

/** The known state of a server that accepts connections and may not respond. */
export type Hang = {
  /** False while the server is known to hang, but for one who may try now and then. */
  admits(): boolean
  suspect(): void
  clear(): void
}

export function createHang(retryMs: number): Hang {
  let retryAtMs: number | undefined
  return {
    admits: () => {
      if (retryAtMs === undefined) return true
      const nowMs = systemClock.monotonicMs()
      if (nowMs < retryAtMs) return false
      retryAtMs = nowMs + retryMs
      return true
    },
    suspect: () => {
      retryAtMs = systemClock.monotonicMs() + retryMs
    },
    clear: () => {
      retryAtMs = undefined
    },
  }
}

export function late(): DatabaseLate {
  return new DatabaseLate('the database did not answer in time')
}

/**
 * Waits for an answer of the server, at most as long as the bounds say; what comes later is not waited for. What is no
 * `answer`, such as a client that was free or a connection that ended, does not say that the server is well.
 */
export function within<T>(
  bounds: Bounds | undefined,
  work: Promise<T>,
  onLate: () => void,
  { isAnswer = true } = {},
): Promise<T> {
  if (!bounds) return work
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      if (bounds.judges) bounds.hang?.suspect()
      onLate()
      reject(late())
    }, bounds.answerMs)
    const settle = (isSaid: boolean) => {
      clearTimeout(timer)
      if (isAnswer && isSaid) bounds.hang?.clear()
    }
    work.then(
      (value) => {
        settle(true)
        resolve(value)
      },
      (error) => {
        settle(!(toDatabaseError(error) instanceof DatabaseUnavailable))
        reject(error)
      },
    )
  })
}
