import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { systemClock } from '../../kernel/clock.js'
import { inTransaction } from '../../postgres/pool.js'
import { boundDatabase } from './deadline.js'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`create table things (id int primary key)`
})
afterAll(() => test.close())

const ids = async () => (await test.db<{ id: number }[]>`select id from things order by id`).map(({ id }) => id)

describe('a bounded database', () => {
  it('is the database itself as long as it answers: statements, fragments, transactions, savepoints', async () => {
    const { operation: db } = boundDatabase(test.db)
    const where = db`where ${1} = 1`
    expect(await db`select 1 as one ${where}`).toEqual([{ one: 1 }])
    await inTransaction(db, async (tx) => {
      await tx`insert into things ${tx({ id: 1 })}`
      await tx.savepoint(async (inner) => inner`insert into things (id) values (2)`)
    })
    await expect(
      inTransaction(db, async (tx) => {
        await tx`insert into things (id) values (3)`
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await expect(db`select nonsense`).rejects.toMatchObject({ code: '42703' })
    expect(await ids()).toEqual([1, 2])
  })

  it('fails with a 503 what is late, and at once what follows, until something is answered', async () => {
    const { admission, operation } = boundDatabase(test.db, { admissionMs: 200, operationMs: 400, retryMs: 60_000 })
    const unavailable = { code: 503, retryAfterSeconds: 2 }
    await expect(operation`select pg_sleep(1)`).rejects.toMatchObject(unavailable)
    // An operation may ask too much; that says nothing of the server.
    expect(await admission`select 1 as one`).toEqual([{ one: 1 }])
    const slow = admission`select pg_sleep(1)`
    await expect(slow).rejects.toMatchObject(unavailable)
    await expect(slow).rejects.toMatchObject(unavailable)
    const startedMs = systemClock.monotonicMs()
    await expect(admission`select 1`).rejects.toMatchObject(unavailable)
    await expect(operation.begin(async (tx) => tx`select 1`)).rejects.toMatchObject(unavailable)
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(150)
    await systemClock.sleep(1_200)
    expect(await admission`select 1 as one`).toEqual([{ one: 1 }])
  })

  it('rolls back a transaction one of whose statements was late', async () => {
    const before = await ids()
    const { operation } = boundDatabase(test.db, { operationMs: 200 })
    const work = inTransaction(operation, async (tx) => {
      await tx`insert into things (id) values (10)`
      await tx`select pg_sleep(0.6)`
      await tx`insert into things (id) values (11)`
    })
    await expect(work).rejects.toMatchObject({ code: 503 })
    await systemClock.sleep(1_000)
    expect(await ids()).toEqual(before)
  })
})
