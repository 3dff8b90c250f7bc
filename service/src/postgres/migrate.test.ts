import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { type Migration, migrate, readMigrations } from './migrate.js'
import { openDatabase, openSession } from './pool.js'

let database: TestDatabase
beforeEach(async () => {
  database = await openTestDatabase()
  await database.db.unsafe('drop schema public cascade; create schema public')
})
afterEach(() => database.close())

const step = (number: number, sql: string): Migration => ({ number, name: `000${number}_x.sql`, sql })

describe('migrations', () => {
  it('are applied once, in order, and only what is missing', async () => {
    const first = [step(1, 'create table a (id integer)')]
    const both = [...first, step(2, 'alter table a add column b text')]
    expect(await migrate(database.db, first)).toEqual(['0001_x.sql'])
    expect(await migrate(database.db, both)).toEqual(['0002_x.sql'])
    expect(await migrate(database.db, both)).toEqual([])
  })

  it('leave nothing of a file that fails', async () => {
    const broken = [step(1, 'create table a (id integer)'), step(2, 'create table b (id integer); select 1/0')]
    await expect(migrate(database.db, broken)).rejects.toThrow(/division by zero/)
    const tables = await database.db`select tablename from pg_tables where schemaname = 'public' order by 1`
    expect(tables.map(({ tablename }) => tablename)).toEqual(['a', 'migrations'])
  })

  it('may be started by many processes at once', async () => {
    const others = [1, 2, 3].map(() => openDatabase(database.target, { max: 2 }))
    const steps = [step(1, 'create table a (id integer)'), step(2, 'insert into a values (1)')]
    const applied = await Promise.all(others.map((db) => migrate(db, steps)))
    expect(applied.flat().sort()).toEqual(['0001_x.sql', '0002_x.sql'])
    expect(await database.db`select id from a`).toHaveLength(1)
    await Promise.all(others.map((db) => db.end()))
  })

  it('let others pass while a table is in use, and go on once it is free', async () => {
    const first = [step(1, 'create table a (id integer)')]
    await migrate(database.db, first)
    const user = openSession(database.db)
    await user.unsafe('begin; select from a')
    const migrated = migrate(database.db, [...first, step(2, 'alter table a add column b text')], 50)
    await until('the migration to wait', async () => {
      const [row] = await database.db`select from pg_locks where relation = 'a'::regclass and not granted`
      return row !== undefined
    })
    // Behind a lock that is waited for without an end it would not be answered.
    expect(await database.db`select id from a`).toEqual([])
    await user.end()
    expect(await migrated).toEqual(['0002_x.sql'])
    expect(await database.db`select b from a`).toEqual([])
  })

  it('give up in a sentence where a table stays in use', async () => {
    const first = [step(1, 'create table a (id integer)')]
    await migrate(database.db, first)
    const user = openSession(database.db)
    await user.unsafe('begin; select from a')
    await expect(migrate(database.db, [...first, step(2, 'alter table a add column b text')], 1)).rejects.toThrow(
      /0002_x.sql waited 20 times for a table that another session keeps: end what runs for long/,
    )
    await user.end()
  })

  it('refuse a database that is newer than the program', async () => {
    await migrate(database.db, [step(1, 'select 1'), step(2, 'select 1')])
    await expect(migrate(database.db, [step(1, 'select 1')])).rejects.toThrow(/run a newer program/)
  })

  it('refuse a database of a former numbering, and say to start with a new one', async () => {
    await migrate(database.db, [step(1, 'create table a (id integer)'), step(2, 'select 1')])
    const other = { ...step(1, 'create table a (id text)'), name: '0001_y.sql' }
    await expect(migrate(database.db, [other])).rejects.toThrow(
      /has 0001_x.sql where this program has 0001_y.sql.*start with a new, empty database/,
    )
    expect(await database.db`select number, name from migrations order by number`).toEqual([
      { number: 1, name: '0001_x.sql' },
      { number: 2, name: '0002_x.sql' },
    ])
  })

  it('are recorded when their file ends in a comment without a newline', async () => {
    const steps = [step(1, 'create table a (id integer); -- the end')]
    expect(await migrate(database.db, steps)).toEqual(['0001_x.sql'])
    expect(await migrate(database.db, steps)).toEqual([])
    expect(await database.db`select id from a`).toEqual([])
  })

  it('have well-formed names without a gap', async () => {
    expect((await readMigrations()).length).toBeGreaterThanOrEqual(6)
    const folder = await mkdtemp(join(tmpdir(), 'openearn-migrations-'))
    await writeFile(join(folder, '0002_x.sql'), 'select 1')
    await expect(readMigrations(folder)).rejects.toThrow(/gap/)
    await writeFile(join(folder, 'one.sql'), 'select 1')
    await expect(readMigrations(folder)).rejects.toThrow(/bad name/)
    await rm(folder, { recursive: true })
  })
})
