import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { type Database, inTransaction, openDatabase, type Queryable } from './pool.js'

let test: TestDatabase
let db: Database
let pool: Database
beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  pool = openDatabase(test.target, { max: 1 })
  await db`create table things (id int primary key, word text)`
})
afterAll(async () => {
  await pool?.end({ timeout: 1 })
  await test?.close()
})

const words = async () => (await db<{ word: string }[]>`select word from things order by id`).map(({ word }) => word)

describe('a transaction', () => {
  it('is undone when one of its statements failed, even when nobody minded', async () => {
    const careless = inTransaction(db, async (tx) => {
      await tx`insert into things values (1, 'kept?')`
      await tx`select nonsense`.catch(() => undefined)
    })
    await expect(careless).rejects.toMatchObject({ code: '42703' })
    expect(await words()).toEqual([])
  })

  it('keeps what is not in a savepoint that failed, and does nothing more when it is over', async () => {
    let left: Queryable = db
    await inTransaction(db, async (tx) => {
      left = tx
      await tx`insert into things values (1, 'a')`
      const twice = tx.savepoint(async (inner) => {
        await inner`insert into things values (2, 'b')`
        await inner`insert into things values (1, 'again')`
      })
      await expect(twice).rejects.toMatchObject({ code: '23505', constraint: 'things_pkey' })
      await Promise.all(['c', 'd'].map((word, index) => tx`insert into things values (${3 + index}, ${word})`))
    })
    await expect(left`insert into things values (9, 'late')`).rejects.toThrow('the transaction is over')
    expect(await words()).toEqual(['a', 'c', 'd'])
    await db`delete from things`
  })

  it('is tried again after a deadlock or a failure to serialize, and after nothing else', async () => {
    let tries = 0
    const failing = (code: string) =>
      inTransaction(db, async (tx) => {
        tries += 1
        await tx.unsafe(`do $$ begin if ${tries} < 3 then raise 'again' using errcode = '${code}'; end if; end $$`)
        return tries
      })
    expect(await failing('40001')).toBe(3)
    tries = 0
    expect(await failing('40P01')).toBe(3)
    tries = 0
    await expect(failing('23505')).rejects.toMatchObject({ code: '23505' })
    expect(tries).toBe(1)
  })

  it('leaves its connection as it was when a cursor ends early, and refuses what cannot be asked meanwhile', async () => {
    await inTransaction(pool, async (tx) => {
      for await (const rows of tx`select n from generate_series(1, 100) n`.cursor(10)) {
        expect(rows).toHaveLength(10)
        break
      }
      expect(await tx`select 1 as one`).toEqual([{ one: 1 }])
    })
    const both = inTransaction(pool, async (tx) => {
      for await (const _ of tx`select n from generate_series(1, 100) n`.cursor(10)) await tx`select 1`
    })
    await expect(both).rejects.toThrow('not at its end')
    expect(await pool`select 2 as two`).toEqual([{ two: 2 }])
  })

  it('takes lines by COPY, all or none', async () => {
    const copy = (lines: string) =>
      inTransaction(db, async (tx) => {
        const into = await tx`copy ${tx('things')} (${tx(['id', 'word'])}) from stdin`.copyIn()
        await into.write(lines)
        await into.end()
      })
    await copy('1\ta\n2\tb\n')
    await expect(copy('3\tc\nx\td\n')).rejects.toMatchObject({ code: '22P02' })
    expect(await words()).toEqual(['a', 'b'])
    await db`delete from things`
  })
})
