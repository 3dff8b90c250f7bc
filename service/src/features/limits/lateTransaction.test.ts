import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { inTransaction } from '../../postgres/pool.js'
import { openLateTransaction } from './lateTransaction.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`create table notes (text text primary key)`
})
afterAll(() => test.close())
beforeEach(async () => {
  await test.db`truncate notes`
})

const notes = async (db = test.db) =>
  (await db<{ text: string }[]>`select text from notes order by text`).map(({ text }) => text)
/** Transactions open in this database, not in those of other tests. */
const backends = async () => {
  const rows = await test.db`
    select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`
  return rows.length
}

describe('a late transaction', () => {
  it('holds no connection before the first write, and shows its own writes to itself alone', async () => {
    const late = openLateTransaction(test.db)
    expect(await notes(late.db)).toEqual([])
    expect(await backends()).toBe(0)
    await late.db`insert into notes (text) values (${'a'})`
    expect(await backends()).toBe(1)
    expect(await notes(late.db)).toEqual(['a'])
    expect(await notes()).toEqual([])
    await late.commit(async (tx) => {
      await tx`insert into notes (text) values ('b')`
    })
    expect(await notes()).toEqual(['a', 'b'])
    expect(await backends()).toBe(0)
  })

  it('leaves nothing when it is rolled back, or when its last statement fails', async () => {
    const first = openLateTransaction(test.db)
    await first.db`insert into notes (text) values ('a')`
    await first.rollback()
    expect(await notes()).toEqual([])
    const second = openLateTransaction(test.db)
    await second.db`insert into notes (text) values ('b')`
    await expect(
      second.commit(async () => {
        throw new Error('too late')
      }),
    ).rejects.toThrow('too late')
    expect(await notes()).toEqual([])
    await openLateTransaction(test.db).rollback()
  })

  it('takes begin for a savepoint: one that fails undoes itself only, whatever is done about it', async () => {
    const late = openLateTransaction(test.db)
    await late.db`insert into notes (text) values ('a')`
    const twice = inTransaction(late.db, async (tx) => {
      await tx`insert into notes (text) values ('b')`
      await tx`insert into notes (text) values ('a')`
    })
    await expect(twice).rejects.toMatchObject({ code: '23505' })
    expect(await inTransaction(late.db, async (tx) => (await tx`insert into notes (text) values ('c')`).count)).toBe(1)
    await late.commit(async () => undefined)
    expect(await notes()).toEqual(['a', 'c'])
  })

  it('understands fragments, statements at once, and a write that is not waited for is not made', async () => {
    const late = openLateTransaction(test.db)
    const { db } = late
    await Promise.all(['a', 'b', 'c'].map((text) => db`insert into notes (text) values (${text})`))
    void db`insert into notes (text) values ('never')`
    const where = db`where text > ${'a'}`
    expect((await db`select text from notes ${where}`).length).toBe(2)
    expect(
      (await db`with gone as (delete from notes where text = 'b' returning text) select text from gone`).count,
    ).toBe(1)
    await late.commit(async () => undefined)
    expect(await notes()).toEqual(['a', 'c'])
  })
})
