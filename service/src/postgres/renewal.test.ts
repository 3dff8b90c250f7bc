import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { type Database, inTransaction, openDatabase, openSession, sqlState } from './pool.js'
import { createRenewal } from './renewal.js'
import { openRequestPools } from './requests.js'

/** Connections that were opened while the database takes no change keep to that, as those to a primary that was deposed. */
let test: TestDatabase
let db: Database
const opened: { end(options?: { timeout?: number }): Promise<void> }[] = []
beforeEach(async () => {
  test = await openTestDatabase()
  await test.db`create table things (id int primary key)`
  await takeNoChange(true)
  db = openDatabase(test.target, { max: 2 })
  opened.push(db)
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.end({ timeout: 1 })
  await test.close()
})

const takeNoChange = (is: boolean) =>
  test.db.unsafe(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = ${is ? 'on' : 'off'}', current_database()); end $$`,
  )
const write = (to: Database, id: number) => to`insert into things values (${id})`
const refusal = expect.toSatisfy((error: unknown) => sqlState(error) === '25006')

describe('a server that takes no change any more', () => {
  it('is let go by the connection that met it, inside a transaction or not: the next one asks the primary', async () => {
    await expect(write(db, 1)).rejects.toEqual(refusal)
    await takeNoChange(false)
    expect(await write(db, 1)).toHaveLength(0)
    await takeNoChange(true)
    const other = openDatabase(test.target, { max: 1 })
    opened.push(other)
    const inside = inTransaction(other, async (tx) => {
      await tx`insert into things values (2)`
    })
    await expect(inside).rejects.toEqual(refusal)
    await takeNoChange(false)
    await inTransaction(other, async (tx) => {
      await tx`insert into things values (2)`
    })
    expect(await test.db`select id from things order by id`).toEqual([{ id: 1 }, { id: 2 }])
  })

  it('is let go by every pool, session and listener of the database, of which some would never write', async () => {
    const pools = openRequestPools(db)
    opened.push(pools)
    const session = openSession(db)
    opened.push(session)
    let openings = 0
    const said: string[] = []
    await db.listen(
      'news',
      (text) => said.push(text),
      () => {
        openings += 1
      },
    )
    const pidOf = async (of: Database) => (await of<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
    const before = await Promise.all([pools.operation, pools.admission, session].map(pidOf))
    expect(new Set(before).size).toBe(3)
    await takeNoChange(false)
    await expect(write(pools.admission, 1)).rejects.toEqual(refusal)
    const after = await Promise.all([pools.operation, pools.admission].map(pidOf))
    for (const pid of after) expect(before).not.toContain(pid)
    await expect(pidOf(session)).rejects.toThrow('lost its connection')
    await until('the listener to listen anew', () => openings === 2)
    await test.db`select pg_notify('news', 'here')`
    await until('the news', () => said.length === 1)
    await write(pools.operation, 1)
  })

  it('leaves what is under way on another connection to its end', async () => {
    let first: Promise<unknown> | undefined
    const reading = inTransaction(db, async (tx) => {
      await tx`select 1`
      first = write(db, 1)
      await expect(first).rejects.toEqual(refusal)
      return tx`select 2 as two`
    })
    expect(await reading).toEqual([{ two: 2 }])
  })
})

describe('letting go', () => {
  it('happens at most once a second, however many connections meet a server that stays as it is', () => {
    let nowMs = 0
    const renewal = createRenewal({ monotonicMs: () => nowMs })
    let times = 0
    const forget = renewal.onRenew(() => {
      times += 1
    })
    for (const at of [0, 1, 999, 1_000, 1_500, 2_000]) {
      nowMs = at
      renewal.renew()
    }
    expect(times).toBe(3)
    forget()
    nowMs = 5_000
    renewal.renew()
    expect(times).toBe(3)
  })
})
