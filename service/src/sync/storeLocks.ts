import type { Context } from '../postgres/context.js'
import { type Database, openSession } from '../postgres/pool.js'
import type { Watcher } from './share.js'
import { type Fence, recordLeader } from './storeLeaders.js'

/**
 * First numbers of advisory locks: of a chain's watcher and its solver, whose second number is the chain id, of the one rebuild,
 * and of the chains that a process can follow, which any number of processes share.
 */
const watcherLock = 6_736_002
const rebuildLock = 6_736_003
const solverLock = 6_736_005
const knownLock = 6_736_006

export type Lock = {
  /** Whether the lock is still ours: its connection responds. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}
/** A lock whose holder shows a token with each write. */
export type FencedLock = Lock & { readonly fence: Fence }

/** Takes the solver lock of a chain; undefined if another process holds it. */
export async function trySolverLock(db: Database, chainId: number): Promise<FencedLock | undefined> {
  const lock = await tryLock(db, solverLock, chainId)
  return lock && withFence(db, lock, { role: 'solver', chainId })
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

/** The locks of the chains that a process follows, on one connection; it also shows the others which chains it can follow. */
export type WatcherLocks = {
  /** Takes the lock of a chain; undefined while another process holds it. */
  take(chainId: number): Promise<FencedLock | undefined>
  /** The processes that follow chains, and which of them this one is. */
  look(): Promise<{ own: number; watchers: readonly Watcher[] }>
  close(): Promise<void>
}

/** PostgreSQL frees the locks when their connection ends, so a killed process holds nothing. One that is lost is opened anew. */
export function openWatcherLocks(db: Database, chainIds: readonly number[]): WatcherLocks {
  let opened: Promise<{ session: Database; own: number }> | undefined
  const open = async () => {
    const session = openSession(db)
    try {
      const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid from (
        select count(pg_advisory_lock_shared(${knownLock}, id)) from unnest(${chainIds.map((id) => id | 0)}::int[]) id) known`
      return { session, own: row?.pid ?? 0 }
    } catch (error) {
      await endSession(session)
      throw error
    }
  }
  /** Asks the session. One that fails is let go, and with it every lock that it had. */
  const ask = async <T>(work: (session: Database, own: number, used: typeof opened) => Promise<T>): Promise<T> => {
    opened ??= open()
    const used = opened
    try {
      const { session, own } = await used
      return await work(session, own, used)
    } catch (error) {
      if (opened === used) opened = undefined
      await used.then(
        ({ session }) => endSession(session),
        () => undefined,
      )
      throw error
    }
  }
  const idOf = new Map(chainIds.map((id) => [id >>> 0, id]))
  const byId = ({ pid, known, held }: Watcher): Watcher => ({
    pid,
    known: known.map((key) => idOf.get(key) ?? key),
    held: held.map((key) => idOf.get(key) ?? key),
  })
  return {
    take: (chainId) =>
      ask(async (session, _own, used) => {
        if (!(await tryOn(session, watcherLock, chainId))) return undefined
        const lock: Lock = {
          isHeld: async () =>
            opened === used && (await ask((now) => isHeldOn(now, watcherLock, chainId)).catch(() => false)),
          release: async () => {
            await session`select pg_advisory_unlock(${watcherLock}, ${chainId | 0})`.catch(() => undefined)
          },
        }
        return withFence(db, lock, { role: 'watcher', chainId })
      }),
    look: () => ask(async (session, own) => ({ own, watchers: (await listWatchers(session)).map(byId) })),
    close: async () => {
      const used = opened
      opened = undefined
      await used?.then(
        ({ session }) => endSession(session),
        () => undefined,
      )
    },
  }
}

async function withFence(db: Database, lock: Lock, at: Omit<Fence, 'token'>): Promise<FencedLock> {
  try {
    return { ...lock, fence: await recordLeader(db, at) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Who can follow which chains, and who follows which, as the locks of this database tell it. */
async function listWatchers(session: Database): Promise<Watcher[]> {
  return session<Watcher[]>`
    select pid, array_agg(objid::bigint) filter (where classid::bigint = ${knownLock}) as known,
      coalesce(array_agg(objid::bigint) filter (where classid::bigint = ${watcherLock}), '{}') as held
    from pg_locks where locktype = 'advisory' and granted and classid::bigint in (${knownLock}, ${watcherLock})
      and database = (select oid from pg_database where datname = current_database())
    group by pid having bool_or(classid::bigint = ${knownLock})`
}

/** Takes a lock on a connection of its own. */
async function tryLock(db: Database, first: number, second: number): Promise<Lock | undefined> {
  const session = openSession(db)
  const end = () => endSession(session)
  try {
    if (!(await tryOn(session, first, second))) {
      await end()
      return undefined
    }
  } catch (error) {
    await end()
    throw error
  }
  return { isHeld: () => isHeldOn(session, first, second).catch(() => false), release: end }
}

async function tryOn(session: Database, first: number, second: number): Promise<boolean> {
  const [row] = await session<{ taken: boolean }[]>`
    select pg_try_advisory_lock(${first}, ${second | 0}) as taken`
  return row?.taken ?? false
}

async function isHeldOn(session: Database, first: number, second: number): Promise<boolean> {
  const rows = await session<{ held: boolean }[]>`
    select exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
      and classid = ${first}::bigint::oid and objid = (${second | 0}::bigint & 4294967295)::oid) as held`
  return rows[0]?.held ?? false
}

/** The lock ends with its connection; of a lost one nothing is waited for. */
const endSession = (session: Database): Promise<void> => session.end({ timeout: 1 })
