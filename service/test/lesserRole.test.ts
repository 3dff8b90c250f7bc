import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { systemClock } from '../src/kernel/clock.js'
import { migrate, readMigrations } from '../src/postgres/migrate.js'
import { type Database, explainRefusal, openDatabase } from '../src/postgres/pool.js'
import { openTestDatabase, type TestDatabase } from './database.js'
import { withDatabase } from './globalSetup.js'
import { rebuildChain } from './pipeline.js'
import { asRole, readGrants } from './roles.js'

let test: TestDatabase
let role: string
let stranger: string
let lesser: Database
let foreign: Database

beforeAll(async () => {
  test = await openTestDatabase()
  const [row] = await test.db<{ owner: string; database: string }[]>`
    select current_user as owner, current_database() as database`
  role = `lesser_${row?.database}`
  stranger = `stranger_${row?.database}`
  const grants = await readGrants({ owner: row?.owner ?? '', service: role, database: row?.database ?? '' })
  expect(grants.length).toBeGreaterThan(4)
  for (const grant of grants) await test.db.unsafe(grant)
  await test.db.unsafe(`create role ${stranger} login password 'secret'`)
  lesser = openDatabase(asRole(test.target, role), { max: 2 })
  foreign = openDatabase(asRole(test.target, stranger), { max: 2 })
})
afterAll(async () => {
  for (const db of [lesser, foreign]) await db?.end()
  // What was granted goes with the database.
  await test.close()
  const admin = openDatabase(inject('database').server, { max: 1 })
  await admin.unsafe(`drop role ${role}; drop role ${stranger}`)
  await admin.end()
})

describe('a role that owns nothing, with the grants of docs/runbook.md', () => {
  it('finds the database up to date and reads and writes every table there is', async () => {
    expect(await migrate(lesser, await readMigrations())).toEqual([])
    const tables = await lesser<{ name: string; may: boolean }[]>`
      select relname as name, has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
        and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete') as may
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
    expect(tables.length).toBeGreaterThan(30)
    expect(tables.filter(({ may }) => !may)).toEqual([])
    const sequences = await lesser<{ may: boolean }[]>`
      select has_sequence_privilege(oid, 'usage') as may from pg_class where relkind = 'S'`
    expect(sequences.length).toBeGreaterThan(0)
    expect(sequences.filter(({ may }) => !may)).toEqual([])
  })

  it('reads and writes the tables of later migrations too', async () => {
    await test.db`create table later (id bigint generated always as identity primary key, word text)`
    await lesser`insert into later (word) values ('new')`
    expect(await lesser`select id, word from later`).toEqual([{ id: 1, word: 'new' }])
    await test.db`drop table later`
  })

  it('rebuilds a chain, and makes and changes no table', async () => {
    await test.db`insert into chains (chain_id, name, slug) values (7, 'Seven', 'seven')`
    await test.db`
      insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
      values (7, 0, 2, ${`0x${'ab'.repeat(32)}`}, 2, 1, now())`
    expect(await rebuildChain({ db: lesser, clock: systemClock }, { chainId: 7 })).toMatchObject({ events: 0 })
    for (const statement of [
      'create table mine (id integer)',
      'alter table migrations add column mine text',
      'drop table migrations',
    ])
      await expect(lesser.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' })
  })

  it('is told who migrates, in one sentence, where a migration is missing', async () => {
    const more = [
      ...(await readMigrations()),
      { number: 999, name: '0999_more.sql', sql: 'create table more (id integer)' },
    ]
    const numbered = more.map((migration, index) => ({ ...migration, number: index + 1 }))
    await expect(migrate(lesser, numbered)).rejects.toThrow(
      `the database lacks 1 migrations, and the role ${role} may not make tables: run \`openearn migrate\` as the role that owns them`,
    )
  })
})

describe('a foreign role without rights', () => {
  it('is refused in a sentence that says where its rights are listed', async () => {
    const error = await migrate(foreign, await readMigrations()).catch((caught: unknown) => caught)
    expect(explainRefusal(error)).toBe(
      'the database refuses it (permission denied for table migrations): docs/runbook.md lists what the role of DATABASE_URL needs',
    )
  })

  it('is refused in a sentence where the database is not there', async () => {
    const db = openDatabase(withDatabase(asRole(test.target, stranger), 'nowhere'), { max: 1 })
    const error = await db`select 1`.then(undefined, (caught: unknown) => caught)
    await db.end()
    expect(explainRefusal(error)).toBe('the database lets nobody in by DATABASE_URL: database "nowhere" does not exist')
    expect(explainRefusal(new Error('else'))).toBeUndefined()
  })
})
