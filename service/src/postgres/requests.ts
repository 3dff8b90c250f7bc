import { boundsWithin, createHang } from './bounds.js'
import type { StatementSpans } from './client.js'
import { type Database, openDatabase } from './pool.js'

/** The database as requests see it: a statement that takes too long fails instead of being waited for. */
export type RequestPools = {
  /** For keys, budgets and readiness, whose statements are small. One that is not answered means that the server hangs. */
  readonly admission: Database
  /** For what operations ask, which may be much. */
  readonly operation: Database
  end(): Promise<void>
}

/** `patience`: how many times longer than usual, where no time is given. */
export type RequestBounds = {
  admissionMs?: number
  operationMs?: number
  retryMs?: number
  patience?: number
  spans?: StatementSpans | undefined
}

export const admissionConnections = 4

/**
 * Pools of their own to the same database. The server ends what takes too long or waits too long for a lock. A server that
 * hangs takes connections and says nothing: then the connection is cut, and statements fail at once, but for one every
 * `retryMs`, until one is answered. What was sent may still take effect, as with any lost connection.
 */
export function openRequestPools({ settings }: Database, options: RequestBounds = {}): RequestPools {
  const { patience = 1, retryMs = 1_000, spans } = options
  const { admissionMs = 3_000 * patience, operationMs = 6_000 * patience } = options
  const { target, name, max, renewal } = settings
  const hang = createHang(retryMs)
  const bounds = { admission: boundsWithin(admissionMs, hang), operation: boundsWithin(operationMs, hang) }
  const admission = openDatabase(target, {
    max: Math.min(max, admissionConnections),
    name,
    renewal,
    spans,
    bounds: { ...bounds.admission, judges: true },
  })
  const operation = openDatabase(target, { max, name, renewal, spans, bounds: bounds.operation })
  return {
    admission,
    operation,
    end: async () => {
      await Promise.all([admission.end({ timeout: 1 }), operation.end({ timeout: 5 })])
    },
  }
}
