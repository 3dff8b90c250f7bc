import { systemClock } from '../../kernel/clock.js'
import { type EarnError, unavailable } from '../../kernel/errors.js'
import type { Database, Transaction } from '../../postgres/pool.js'

/** The database as requests see it: a statement that takes too long fails with a 503 instead of being waited for. */
export type Bounded = {
  /** For keys, budgets and readiness, whose statements are small. One that is late means that the server hangs. */
  readonly admission: Database
  /** For what operations ask, which may be much. */
  readonly operation: Database
}

export type BoundedOptions = { admissionMs?: number; operationMs?: number; retryMs?: number }

type Guard = <T>(start: () => PromiseLike<T>) => Promise<T>

/**
 * Bounds every statement, and the beginning and the end of every transaction. A server that hangs takes connections and
 * says nothing, so nothing else would ever end the wait. While it is known to hang, statements fail at once, but for one
 * every `retryMs`; the first that is answered, a late one included, ends this. What was sent may still take effect then,
 * as with any lost connection; a transaction that was late is rolled back.
 */
export function boundDatabase(db: Database, options: BoundedOptions = {}): Bounded {
  const { admissionMs = 3_000, operationMs = 6_000, retryMs = 1_000 } = options
  let hangs = false
  let retryAtMs = 0
  const mayTry = () => {
    if (!hangs) return true
    const nowMs = systemClock.monotonicMs()
    if (nowMs < retryAtMs) return false
    retryAtMs = nowMs + retryMs
    return true
  }
  const guardFor =
    (ms: number, onLate: () => void): Guard =>
    (start) =>
      new Promise((resolve, reject) => {
        if (!mayTry()) return reject(late())
        const timer = setTimeout(() => {
          onLate()
          reject(late())
        }, ms)
        const settle = <V>(end: (value: V) => void) => {
          return (value: V) => {
            clearTimeout(timer)
            hangs = false
            end(value)
          }
        }
        start().then(settle(resolve), settle(reject))
      })
  const onHang = () => {
    hangs = true
    retryAtMs = systemClock.monotonicMs() + retryMs
  }
  return {
    admission: guarded(db, guardFor(admissionMs, onHang)),
    operation: guarded(
      db,
      guardFor(operationMs, () => undefined),
    ),
  }
}

function late(): EarnError {
  return unavailable('the database did not answer in time; try again shortly', { retryAfterSeconds: 2 })
}

function guarded(db: Database, guard: Guard): Database {
  return new Proxy(db, {
    apply: (target, self, args: unknown[]) => guardQuery(Reflect.apply(target, self, args), args, guard),
    get: (target, name) =>
      name === 'begin'
        ? (...args: unknown[]) => begin(target, args[args.length - 1] as Work, guard)
        : Reflect.get(target, name),
  })
}

type Work = (tx: Transaction) => Promise<unknown>

/** Like the driver's own `begin`: BEGIN, the work, COMMIT; each has the guard's time, the work as a whole its own. */
function begin(db: Database, work: Work, guard: Guard): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let over = false
    const fail = (error: unknown) => {
      over = true
      reject(error)
    }
    guard(
      () =>
        new Promise<void>((begun, failed) => {
          const whole = db.begin(async (tx) => {
            begun()
            // Late already: the caller has gone.
            if (over) throw late()
            try {
              return await work(guardTransaction(tx, guard))
            } finally {
              guard(() => whole).then(resolve, fail)
            }
          })
          whole.catch(failed)
        }),
    ).catch(fail)
  })
}

function guardTransaction(tx: Transaction, guard: Guard): Transaction {
  return new Proxy(tx, {
    apply: (target, self, args: unknown[]) => guardQuery(Reflect.apply(target, self, args), args, guard),
    get: (target, name) =>
      name === 'savepoint'
        ? (...args: unknown[]) =>
            target.savepoint((inner) => (args[args.length - 1] as Work)(guardTransaction(inner, guard)))
        : Reflect.get(target, name),
  })
}

/** A statement runs when it is first waited for, so that is where its time begins; a fragment never is. */
function guardQuery(query: unknown, [text]: unknown[], guard: Guard): unknown {
  if (!Array.isArray(text) || !('raw' in text) || !(query instanceof Promise)) return query
  const run = query.then.bind(query)
  let started: Promise<unknown> | undefined
  const start = () => {
    started ??= guard(() => new Promise((resolve, reject) => run(resolve, reject)))
    return started
  }
  return Object.defineProperty(query, 'then', {
    value: (...args: Parameters<typeof run>) => start().then(...args),
  })
}
