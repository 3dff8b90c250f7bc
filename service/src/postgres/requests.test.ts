import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { inTransaction, isDatabaseLate } from './pool.js'
import { openRequestPools, type RequestPools } from './requests.js'

let test: TestDatabase
let pools: RequestPools
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`create table things (id int primary key)`
  pools = openRequestPools(test.db, { admissionMs: patient(1_000), operationMs: patient(2_000), retryMs: 600_000 })
})
afterAll(async () => {
  await pools?.end()
  await test?.close()
})

const ids = async () => (await test.db<{ id: number }[]>`select id from things order by id`).map(({ id }) => id)
const late = expect.toSatisfy(isDatabaseLate)

// Most of these wait for a bound to pass: they do so at once.
describe.concurrent('the database of requests', () => {
  it('is the database itself as long as it answers: statements, fragments, transactions, savepoints', async () => {
    const { operation: db } = pools
    const where = db`where ${1} = 1`
    expect(await db`select 1 as one ${where}`).toEqual([{ one: 1 }])
    await inTransaction(db, async (tx) => {
      await tx`insert into things (id) values (1)`
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

  it('has a bound of its own for each kind of statement, kept by the server, which then is not taken to hang', async () => {
    const { admission, operation } = pools
    await Promise.all([
      expect(admission`select pg_sleep(600)`).rejects.toMatchObject({ code: '57014' }),
      expect(operation`select pg_sleep(600)`).rejects.toMatchObject({ code: '57014' }),
      expect(operation`select pg_sleep(600)`).rejects.toEqual(late),
    ])
    expect(await admission`select 1 as one`).toEqual([{ one: 1 }])
    // Watchers and jobs take as long as they take.
    expect(await test.db`show statement_timeout`).toEqual([{ statement_timeout: '0' }])
    const [lock] = await admission<{ ms: number }[]>`
      select setting::int as ms from pg_settings where name = 'lock_timeout'`
    expect(lock?.ms).toBe(patient(800))
  })

  it('rolls back a transaction one of whose statements was late', async () => {
    const work = inTransaction(pools.operation, async (tx) => {
      await tx`insert into things (id) values (10)`
      await tx`select pg_sleep(600)`
      await tx`insert into things (id) values (11)`
    })
    await expect(work).rejects.toEqual(late)
    expect(await ids()).not.toContain(10)
  })
})
