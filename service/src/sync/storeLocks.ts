import type { Context } from '../postgres/context.js'
import { type Database, openSession } from '../postgres/pool.js'

/** First numbers of advisory locks: of a chain's watcher and its solver, whose second number is the chain id, and of the one rebuild. */
const watcherLock = 6_736_002
const rebuildLock = 6_736_003
const solverLock = 6_736_005

export type Lock = {
  /** Whether the lock is still ours: its connection responds. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** Takes the lock of a chain's watcher, undefined when another process holds it. */
export function tryWatcherLock(db: Database, chainId: number): Promise<Lock | undefined> {
  return tryLock(db, watcherLock, chainId)
}

/** Takes the solver lock of a chain; undefined if another process holds it. */
export function trySolverLock(db: Database, chainId: number): Promise<Lock | undefined> {
  return tryLock(db, solverLock, chainId)
}

/** How often a rebuild that waits for another looks again. */
const rebuildRetryMs = 250

/** Takes the lock of the one rebuild of a database at a time; waits for it. */
export async function takeRebuildLock({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<Lock> {
  for (;;) {
    const lock = await tryLock(db, rebuildLock, 0)
    if (lock) return lock
    await clock.sleep(rebuildRetryMs)
  }
}

/** Takes a lock on a connection of its own. PostgreSQL frees it when that ends, so a killed process holds nothing. */
async function tryLock(db: Database, first: number, second: number): Promise<Lock | undefined> {
  const session = openSession(db)
  // The lock ends with its connection; of a lost one nothing is waited for.
  const end = () => session.end({ timeout: 1 })
  try {
    const [row] = await session<{ taken: boolean }[]>`
      select pg_try_advisory_lock(${first}, ${second | 0}) as taken`
    if (!row?.taken) {
      await end()
      return undefined
    }
  } catch (error) {
    await end()
    throw error
  }
  return {
    isHeld: async () => {
      try {
        const rows = await session<{ held: boolean }[]>`
          select exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
            and classid = ${first}::bigint::oid and objid = (${second | 0}::bigint & 4294967295)::oid) as held`
        return rows[0]?.held ?? false
      } catch {
        return false
      }
    },
    release: end,
  }
}
