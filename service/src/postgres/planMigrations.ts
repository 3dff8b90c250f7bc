import { type Migration, migrate } from './migrate.js'
import { type Database, inTransaction, type Queryable } from './pool.js'
import { findBreaks, readShape } from './schemaShape.js'
import { splitSql } from './splitSql.js'

/** How a statement treats a table that was there before its migration. */
export type TableLock = { table: string; mode: string; isRewritten: boolean; isRead: boolean; isChanged: boolean }
export type PlannedMigration = {
  name: string
  /** Why programs of the version before may fail after it; none: it is additive. */
  breaks: string[]
  statements: { sql: string; locks: TableLock[] }[]
}

/**
 * Applies migrations to a scratch database without rows, the pending ones statement by statement, and tells which locks
 * PostgreSQL took, what it rewrote and what it read. Locks that an earlier statement of the same migration took are still
 * held and not told again.
 */
export async function planMigrations(
  scratch: Database,
  migrations: readonly Migration[],
  applied: number,
): Promise<PlannedMigration[]> {
  await migrate(scratch, migrations.slice(0, applied))
  const planned: PlannedMigration[] = []
  for (const { name, sql } of migrations.slice(applied)) {
    const before = await readShape(scratch)
    const statements: PlannedMigration['statements'] = []
    await inTransaction(scratch, async (tx) => {
      const known = await listTables(tx)
      let last = await readEffects(tx, known)
      for (const statement of splitSql(sql)) {
        await tx.unsafe(statement)
        const now = await readEffects(tx, known)
        statements.push({ sql: statement, locks: compare(last, now) })
        last = now
      }
    })
    const breaks = findBreaks(before, await readShape(scratch))
    for (const table of new Set(
      statements.flatMap(({ locks }) => locks.filter((each) => each.isChanged).map((each) => each.table)),
    ))
      breaks.push(`stored rows of ${table} are changed`)
    planned.push({ name, breaks, statements })
  }
  return planned
}

type Known = { oid: number; table: string }

const listTables = (tx: Queryable) => tx<Known[]>`
  select oid::bigint::int as oid, relname as table from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm') order by relname`

type Effect = { table: string; modes: string[]; file: string | null; scans: number }

/** Locks that this transaction holds on each table, the file that it lies in now, and how often it was read so far. */
const readEffects = (tx: Queryable, known: readonly Known[]) => tx<Effect[]>`
  select k.table, array(select l.mode from pg_locks l
      where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.relation = k.oid::oid) as modes,
    pg_relation_filenode(k.oid::oid)::text as file,
    coalesce((select s.seq_scan + coalesce(s.idx_scan, 0) from pg_stat_xact_user_tables s where s.relid = k.oid::oid), 0)::int as scans
  from unnest(${known.map(({ oid }) => oid)}::int[], ${known.map(({ table }) => table)}::text[]) as k (oid, "table")`

/** From the weakest to the strongest. */
const modes = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
]

function compare(last: readonly Effect[], now: readonly Effect[]): TableLock[] {
  const locks = now.flatMap(({ table, modes: held, file, scans }, index) => {
    const before = last[index]
    const taken = held.filter((mode) => !before?.modes.includes(mode))
    // One that is dropped has no file any more.
    const isRewritten = file !== null && file !== before?.file
    const isRead = scans > (before?.scans ?? 0)
    if (taken.length === 0 && !isRewritten && !isRead) return []
    const strongest = modes.filter((mode) => held.includes(mode)).at(-1) ?? 'AccessShareLock'
    return [{ table, mode: strongest, isRewritten, isRead, isChanged: taken.includes('RowExclusiveLock') }]
  })
  // A new reference reads the table that it names for the rows of the other, of which there are none here.
  const refers = (mode: string) => mode === 'ShareRowExclusiveLock' && locks.some(({ isRead }) => isRead)
  return locks.map((lock) => (refers(lock.mode) ? { ...lock, isRead: true } : lock))
}
