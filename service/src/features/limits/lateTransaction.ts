import { type Database, inTransaction, type Transaction } from '../../postgres/pool.js'

export type LateTransaction = {
  /** Reads through the pool until the first write, from then on everything runs in one transaction. */
  readonly db: Database
  /** Runs `last` in the transaction, beginning one if nothing was written, and commits. */
  commit(last: (tx: Transaction) => Promise<void>): Promise<void>
  /** Undoes what was written. Call it, or `commit`, once. */
  rollback(): Promise<void>
}

class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** Statements that write or may write; what starts otherwise is a read or a fragment of a statement. */
const writes = /^\s*(insert|update|delete|merge|with)\s/i

/**
 * A database handle whose writes all belong to one transaction that begins with the first of them. An operation may
 * spend seconds asking a chain before it writes; a connection is held only from the write to the answer. `begin`
 * inside it is a savepoint.
 */
export function openLateTransaction(pool: Database): LateTransaction {
  let current: Transaction | undefined
  let begun: Promise<Transaction> | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let decide: (commit: boolean) => void = () => undefined
  let undone = false
  const begin = (): Promise<Transaction> => {
    // Nobody would end a transaction begun now, by work that outlived its request.
    if (undone) return Promise.reject(new RolledBack('the request is over'))
    begun ??= new Promise<Transaction>((resolve, reject) => {
      const decision = new Promise<boolean>((settle) => {
        decide = settle
      })
      const decided = async (tx: Transaction) => {
        current = tx
        resolve(tx)
        if (!(await decision)) throw new RolledBack()
      }
      ended = inTransaction(pool, decided, 1)
      ended.catch(reject)
    })
    return begun
  }
  const write = (run: (tx: Transaction) => PromiseLike<unknown>) => {
    // Like the driver's own queries, it runs once, when it is first waited for.
    let started: Promise<unknown> | undefined
    const start = () => {
      started ??= begin().then(run)
      return started
    }
    return {
      // biome-ignore lint/suspicious/noThenProperty: it stands in for a query, which is waited for
      then: (...args: Parameters<Promise<unknown>['then']>) => start().then(...args),
      catch: (...args: Parameters<Promise<unknown>['catch']>) => start().catch(...args),
      finally: (...args: Parameters<Promise<unknown>['finally']>) => start().finally(...args),
    }
  }
  const db = new Proxy(pool, {
    apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) => {
      const [text] = args
      if (Array.isArray(text) && 'raw' in text && writes.test(text[0] ?? ''))
        return write((tx) => Reflect.apply(tx, self, args))
      return Reflect.apply(current ?? target, self, args)
    },
    get: (target, name) => {
      if (name === 'begin' || name === 'savepoint')
        return (...args: unknown[]) => begin().then((tx) => tx.savepoint(args[args.length - 1] as never))
      return Reflect.get(name in (current ?? {}) ? (current ?? target) : target, name)
    },
  })
  return {
    db,
    commit: async (last) => {
      const tx = await begin()
      try {
        await last(tx)
      } catch (error) {
        decide(false)
        await ended.catch(() => undefined)
        throw error
      }
      decide(true)
      await ended
    },
    rollback: async () => {
      undone = true
      if (!begun) return
      decide(false)
      await ended.catch(() => undefined)
    },
  }
}
