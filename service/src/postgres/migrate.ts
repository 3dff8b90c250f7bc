import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from './pool.js'

export type Migration = { number: number; name: string; sql: string }

export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** One number for the whole service, so that two processes never migrate at once. */
const lockId = 6_736_001

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
export async function migrate(db: Database, migrations: Migration[]): Promise<string[]> {
  const connection = await db.reserve()
  try {
    await connection`select pg_advisory_lock(${lockId})`
    await connection`create table if not exists migrations (
      number integer primary key, name text not null, applied_at timestamptz not null default now())`
    const rows = await connection<{ number: number; name: string }[]>`select number, name from migrations`
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
    const missing = migrations.filter((migration) => !applied.has(migration.number))
    for (const migration of missing) {
      await connection.unsafe(
        // The newline ends a comment in the file's last line.
        `begin; ${migration.sql}\n; insert into migrations (number, name) values (${migration.number}, '${migration.name}'); commit;`,
      )
    }
    return missing.map((migration) => migration.name)
  } catch (error) {
    await connection`rollback`.catch(() => undefined)
    throw error
  } finally {
    await connection`select pg_advisory_unlock(${lockId})`.catch(() => undefined)
    connection.release()
  }
}
