import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openTestDatabase, type TestDatabase, urlOf } from '../../test/database.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { openSession } from '../postgres/pool.js'
import { migrateCommand } from './migrate.js'

/** The migrations of the version before. */
const applied = 48

let database: TestDatabase
beforeAll(async () => {
  database = await openTestDatabase()
  await database.db.unsafe('drop schema public cascade; create schema public')
  await migrate(database.db, (await readMigrations()).slice(0, applied))
  vi.stubEnv('DATABASE_URL', urlOf(database.target))
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database.close()
})

async function run(...words: string[]): Promise<string[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await migrateCommand.run(words)
    return write.mock.calls.map(([line]) => String(line).trimEnd())
  } finally {
    write.mockRestore()
  }
}

const countApplied = async () => (await database.db`select number from migrations`).length

it('tells what is missing and what it locks, with the rows there are, while others lock those tables, and applies nothing', async () => {
  await database.db`vacuum analyze requests`
  const other = openSession(database.db)
  await other.unsafe('begin; lock table requests, rebuilt_requests in access exclusive mode')
  const lines = await run('--plan')
  await other.end()
  expect(lines[0]).toMatch(/^tried on an empty PostgreSQL \d+\.\d+ .*; the database is \d+\.\d+/)
  expect(lines.slice(1, 9)).toEqual([
    '',
    '0049_veda_requests.sql  additive',
    '  alter table requests drop constraint requests_kind_check',
    '    requests  AccessExclusiveLock: reads and writes of others wait until the migration ends; reads none of its rows (about 0 rows, 0 KiB)',
    "  alter table requests add constraint requests_kind_check check (kind in ('deposit', 'redeem', 'refun…",
    '    requests  AccessExclusiveLock: reads and writes of others wait until the migration ends; reads the table (about 0 rows, 0 KiB)',
    '  alter table rebuilt_requests add column promised numeric(78, 0)',
    '    rebuilt_requests  AccessExclusiveLock: reads and writes of others wait until the migration ends; reads none of its rows (not counted yet)',
  ])
  expect(lines.at(-1)).toBe('all are additive: processes of the version before go on while and after they are applied')
  expect(await countApplied()).toBe(applied)
})

it('says that nothing is missing once all is applied', async () => {
  await run()
  expect(await countApplied()).toBeGreaterThan(applied)
  expect(await run('--plan')).toEqual(['the database is up to date'])
})
