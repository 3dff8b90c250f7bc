import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { migrate, readMigrations } from '../../postgres/migrate.js'
import { claimDevnet, dropDevnet } from './store.js'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
})
afterEach(() => database.close())

/** The test's database as PostgreSQL makes one. */
const makeEmpty = () => database.db.unsafe('drop schema public cascade; create schema public')
const countTables = async () =>
  (await database.db`select from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`).length

describe('a database the devnet may not use', () => {
  it.each([
    ['a table of another program', 'create table theirs (id integer)', /table public\.theirs/],
    ['a table in another schema', 'create schema other; create table other.theirs (id integer)', /table other\.theirs/],
    ['a view alone', 'create view theirs as select 1', /view public\.theirs/],
    [
      'a function alone',
      "create function theirs() returns integer language sql as 'select 1'",
      /function public\.theirs/,
    ],
    ['a type alone', "create type theirs as enum ('a')", /type public\.theirs/],
    [
      'settings of another program',
      'create table settings (name integer); insert into settings values (1)',
      /settings/,
    ],
    [
      "another program's setting of the same name",
      "create table settings (name text, value text); insert into settings values ('devnet', 'genesisHash')",
      /settings/,
    ],
    [
      'the migrations of an older installation',
      'create table migrations (number integer); create table settings (name text primary key, value jsonb)',
      /migrations/,
    ],
  ])('is one with %s; nothing of it is dropped', async (_name, sql, said) => {
    await makeEmpty()
    await database.db.unsafe(sql)
    const before = await countTables()
    await expect(claimDevnet(database.db, 'the database')).rejects.toThrow(said)
    await expect(claimDevnet(database.db, 'the database')).rejects.toThrow(
      /Nothing was changed\. Use an empty database/,
    )
    await expect(dropDevnet(database.db)).rejects.toThrow(/is not a devnet/)
    expect(await countTables()).toBe(before)
  })

  it('is an installation in production', async () => {
    await database.db`
      insert into organizations (id, name, organization_type)
      values ('7f1d4c8e-9f0a-4b6e-8a63-0d6ac0ffee01', 'Production Org', 'distributor')`
    await expect(claimDevnet(database.db, 'the database')).rejects.toThrow(/is not a devnet/)
    await expect(dropDevnet(database.db)).rejects.toThrow(/is not a devnet/)
    expect(await database.db`select name from organizations`).toEqual([{ name: 'Production Org' }])
  })
})

describe('a database the devnet may use', () => {
  it('is an empty one, also when its first start was cut short, and may be emptied again and again', async () => {
    await makeEmpty()
    await claimDevnet(database.db, 'the database')
    await database.db`create table half_made (id integer)`
    for (let time = 0; time < 2; time++) {
      await claimDevnet(database.db, 'the database')
      await dropDevnet(database.db)
      expect(await countTables()).toBe(0)
      expect((await migrate(database.db, await readMigrations())).length).toBeGreaterThan(0)
    }
  })

  it('is one an earlier version marked in its settings', async () => {
    await database.db`insert into settings (name, value) values ('devnet', '{"genesisHash": "0x1"}')`
    await claimDevnet(database.db, 'the database')
    await dropDevnet(database.db)
    expect(await countTables()).toBe(0)
  })
})
