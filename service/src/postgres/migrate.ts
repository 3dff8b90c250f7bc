import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../kernel/clock.js'
import { insufficientPrivilege, lockNotAvailable } from './errors.js'
import { type Database, openSession, type Queryable, sqlState } from './pool.js'

export type Migration = { number: number; name: string; sql: string }

export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** One number for the whole service, so that two processes never migrate at once. */
const lockId = 6_736_001

/** Tries before one gives up. */
const attemptsMax = 20

const folder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The numbered SQL files, in order. Numbers must run 1, 2, 3 … without a gap. */
export async function readMigrations(from: string = folder): Promise<Migration[]> {
  const names = (await readdir(from)).filter((name) => name.endsWith('.sql')).sort()
  const migrations = await Promise.all(
    names.map(async (name) => {
      const match = /^([0-9]{4})_[a-z0-9_]+\.sql$/.exec(name)
      if (!match) throw new MigrationError(`migration file with a bad name: ${name}`)
      return { number: Number(match[1]), name, sql: await readFile(join(from, name), 'utf8') }
    }),
  )
  migrations.forEach((migration, index) => {
    if (migration.number !== index + 1) throw new MigrationError(`migration numbers have a gap at ${migration.name}`)
  })
  return migrations
}

/**
 * Applies what is missing, each file in its own transaction, under an advisory lock. Refuses a database that is newer
 * than this program, and one whose files had other names: its tables are not those these files make. Returns the names
 * applied.
 */
export async function migrate(db: Database, migrations: readonly Migration[], lockMs = 2_000): Promise<string[]> {
  const session = openSession(db)
  try {
    await session`select pg_advisory_lock(${lockId})`
    const missing = await listPending(session, migrations)
    if (missing.length > 0) await assertOwner(session, missing.length)
    for (const migration of missing) await applyPatiently(session, migration, lockMs)
    return missing.map((migration) => migration.name)
  } finally {
    // With the connection go the lock, and what is left of a migration that failed.
    await session.end({ timeout: 5 })
  }
}

/**
 * Applies one. It waits for a table that others use at most `lockMs` at a time, because those who come after wait behind it,
 * and lets them pass before it tries again.
 */
async function applyPatiently(session: Database, { number, name, sql }: Migration, lockMs: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // The newline ends a comment in the file's last line.
      await session.unsafe(
        `begin; set local lock_timeout = ${lockMs}; ${sql}\n; insert into migrations (number, name) values (${number}, '${name}'); commit;`,
      )
      return
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable) throw error
      await session`rollback`
      if (attempt >= attemptsMax)
        throw new MigrationError(
          `${name} waited ${attemptsMax} times for a table that another session keeps: end what runs for long (pg_stat_activity), and migrate again`,
          { cause: error },
        )
      await systemClock.sleep(lockMs)
    }
  }
}

/** Those of `migrations` that the database lacks, in order. */
export async function listPending(db: Queryable, migrations: readonly Migration[]): Promise<Migration[]> {
  const rows = await readApplied(db)
  const applied = new Map(rows.map((row) => [row.number, row.name]))
  const other = migrations.find(({ number, name }) => applied.has(number) && applied.get(number) !== name)
  if (other)
    throw new MigrationError(
      `the database has ${applied.get(other.number)} where this program has ${other.name}; it is older than any release and cannot be brought up to date: start with a new, empty database, which is filled from the chains again`,
    )
  const newest = Math.max(0, ...applied.keys())
  if (newest > migrations.length)
    throw new MigrationError(
      `the database is at migration ${newest}, this program knows ${migrations.length}: run a newer program`,
    )
  return migrations.filter(({ number }) => !applied.has(number))
}

/** The applied migrations; none in a database without their table. A role without the right to create tables needs only this. */
async function readApplied(db: Queryable): Promise<{ number: number; name: string }[]> {
  const [row] = await db<{ there: boolean }[]>`select to_regclass('migrations') is not null as there`
  return row?.there ? db`select number, name from migrations` : []
}

/** Makes the table of migrations, and says who may where this role may not. */
async function assertOwner(session: Database, missing: number): Promise<void> {
  try {
    await session`create table if not exists migrations (
      number integer primary key, name text not null, applied_at timestamptz not null default now())`
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error
    const [row] = await session<{ role: string }[]>`select current_user as role`
    throw new MigrationError(
      `the database lacks ${missing} migrations, and the role ${row?.role} may not make tables: run \`openearn migrate\` as the role that owns them (docs/runbook.md)`,
      { cause: error },
    )
  }
}
