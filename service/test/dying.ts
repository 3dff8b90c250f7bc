import type { Database } from '../src/postgres/pool.js'
import type { Rpc } from '../src/rpc/rpc.js'

/** The end of a process, as whoever waits for an answer sees it. */
export class Death extends Error {
  override readonly name = 'Death'
}

/** A database that is gone after so many statements, in transactions too, or right after one of these. */
export function dyingDb(db: Database, at: number, onDeath: () => void = () => undefined): Database {
  let calls = 0
  const live = () => {
    if (calls++ < at) return
    onDeath()
    throw new Death('the process ended')
  }
  const wrap = <T extends object>(of: T): T =>
    new Proxy(of, {
      apply: (target, self, args) => {
        live()
        return Reflect.apply(target as never, self, args)
      },
      get: (target, name) => {
        if (name !== 'begin') return Reflect.get(target, name)
        return async (work: (tx: object) => Promise<unknown>) => {
          const done = await (target as Database).begin((tx) => work(wrap(tx)))
          live()
          return done
        }
      },
    })
  return wrap(db)
}

/** A node that is gone at the call of a number, which it has done or not. */
export function dyingRpc(rpc: Rpc, at: number, isDone: boolean): Rpc {
  let calls = 0
  const live = async <T>(call: () => Promise<T>): Promise<T> => {
    if (calls++ < at) return call()
    if (isDone && calls === at + 1) await call().catch(() => undefined)
    throw new Death('the process ended')
  }
  return {
    ...rpc,
    request: (request) => live(() => rpc.request(request)),
    batch: (requests) => live(() => rpc.batch(requests)),
  }
}
