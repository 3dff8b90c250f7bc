import { newId } from '../kernel/ids.js'
import { type Database, inTransaction, type Queryable, type Transaction } from '../postgres/pool.js'

/** The token that the holder of a lock shows with each write. It is new each time: one that a failover lost is given to nobody again. */
export type Fence = { role: 'watcher' | 'solver'; chainId: number; token: string }

/** Another process has taken the lock since: what this one was about to write is left to it. */
export class LockLost extends Error {
  override readonly name = 'LockLost'
}

/** Makes the holder of a lock the only one who may write. Waits for transactions of the one before. */
export async function recordLeader(db: Queryable, { role, chainId }: Omit<Fence, 'token'>): Promise<Fence> {
  const token = newId()
  await db`
    insert into leaders (role, chain_id, token) values (${role}, ${chainId}, ${token})
    on conflict (role, chain_id) do update set token = excluded.token, taken_at = now()`
  return { role, chainId, token }
}

/** Fails where another process has taken the lock; until the transaction ends, none can. */
export async function assertLeader(tx: Transaction, { role, chainId, token }: Fence): Promise<void> {
  const rows = await tx`
    select from leaders where role = ${role} and chain_id = ${chainId} and token = ${token} for share`
  if (rows.length === 0) throw new LockLost(`another process has taken the lock of the ${role} of chain ${chainId}`)
}

/** The same database, whose transactions are those of the holder of the lock, or fail. */
export function fenced(db: Database, fence: Fence): Database {
  const begin: Database['begin'] = (work) =>
    db.begin(async (tx) => {
      await assertLeader(tx, fence)
      return work(tx)
    })
  // A function with members: another function that passes its calls on, with the members of the first but for one.
  const passed = (...words: Parameters<Database>) => db(...words)
  return Object.assign(passed as Database, db, { begin })
}

/** Does one write as the holder of the lock. */
export function writeAs(db: Database, fence: Fence, write: (tx: Transaction) => Promise<void>): Promise<void> {
  return inTransaction(fenced(db, fence), write)
}
