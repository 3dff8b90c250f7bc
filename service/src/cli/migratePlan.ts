import type { Context } from '../postgres/context.js'
import { listPending, readMigrations } from '../postgres/migrate.js'
import { type PlannedMigration, planMigrations, type TableLock } from '../postgres/planMigrations.js'
import type { Queryable } from '../postgres/pool.js'
import { withScratchDatabase } from '../server/database.js'
import { answer } from './terminal.js'

/** Prints which migrations are missing, and what each will lock and read, as tried on a server made for it. */
export async function printPlan({ db }: Pick<Context, 'db'>): Promise<void> {
  const migrations = await readMigrations()
  const pending = await listPending(db, migrations)
  const [server] = await db<{ version: string }[]>`select current_setting('server_version') as version`
  if (pending.length === 0) return answer({ pending: [] }, ['the database is up to date'])
  const { version, planned } = await withScratchDatabase(async (scratch) => {
    const [row] = await scratch<{ version: string }[]>`select current_setting('server_version') as version`
    return {
      version: row?.version,
      planned: await planMigrations(scratch, migrations, migrations.length - pending.length),
    }
  })
  const sizes = await readSizes(db)
  const sized = planned.map((each) => ({
    ...each,
    isAdditive: each.breaks.length === 0,
    statements: each.statements.map(({ sql, locks }) => ({
      sql,
      locks: locks.map((lock) => ({ ...lock, ...(sizes.get(lock.table) ?? unknownSize) })),
    })),
  }))
  answer({ triedOn: version, server: server?.version, pending: sized }, [
    `tried on an empty PostgreSQL ${version} that was made for it; the database is ${server?.version} and was only asked for sizes`,
    ...sized.flatMap(formatMigration),
    planned.every(({ breaks }) => breaks.length === 0)
      ? 'all are additive: processes of the version before go on while and after they are applied'
      : 'stop the processes of the version before, or read each reason above, before they are applied',
  ])
}

type Size = { rows: number | null; bytes: number | null }
type Sized = Omit<PlannedMigration, 'statements'> & { statements: { sql: string; locks: (TableLock & Size)[] }[] }

const unknownSize: Size = { rows: null, bytes: null }

/** As the last vacuum or analyze counted them. Asks the catalogue alone, so that it waits for no lock. */
async function readSizes(db: Queryable): Promise<Map<string, Size>> {
  const rows = await db<(Size & { name: string })[]>`
    select relname as name, nullif(reltuples, -1)::float8 as rows,
      (relpages::bigint * current_setting('block_size')::int)::float8 as bytes
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm')`
  return new Map(rows.map(({ name, rows, bytes }) => [name, { rows, bytes }]))
}

/** Which statements of others wait while a lock of a mode is held. */
const waits: Readonly<Record<string, string>> = {
  AccessExclusiveLock: 'reads and writes of others wait',
  ExclusiveLock: 'writes of others wait',
  ShareRowExclusiveLock: 'writes of others wait',
  ShareLock: 'writes of others wait',
}

function formatMigration({ name, breaks, statements }: Sized): string[] {
  const locking = statements.filter(({ locks }) => locks.length > 0)
  const others = statements.length - locking.length
  return [
    '',
    `${name}  ${breaks.length === 0 ? 'additive' : 'not additive'}`,
    ...breaks.map((reason) => `  because  ${reason}`),
    ...locking.flatMap(({ sql, locks }) => [`  ${shorten(sql)}`, ...locks.map((lock) => `    ${formatLock(lock)}`)]),
    ...(others > 0
      ? [`  ${others} ${locking.length > 0 ? 'more ' : ''}statements take no new lock on a table that is there`]
      : []),
  ]
}

const shorten = (sql: string) => {
  const line = sql
    .replaceAll(/--[^\n]*/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`
}

function formatLock({ table, mode, isRewritten, isRead, rows, bytes }: TableLock & Size): string {
  const wait = waits[mode] ?? 'nobody waits who reads or writes'
  const size =
    rows === null || bytes === null ? 'not counted yet' : `about ${Math.round(rows)} rows, ${formatBytes(bytes)}`
  const long = isRewritten
    ? `writes the table anew (${size})`
    : isRead
      ? `reads the table (${size})`
      : `reads none of its rows (${size})`
  return `${table}  ${mode}: ${wait} until the migration ends; ${long}`
}

function formatBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.round(bytes / 2 ** 10)} KiB` : `${Math.round(bytes / 2 ** 20)} MiB`
}
