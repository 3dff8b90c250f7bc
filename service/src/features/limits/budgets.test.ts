import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { type Database, inTransaction, type Queryable } from '../../postgres/pool.js'
import { parsePosition } from '../../postgres/reading.js'
import { createBudgets } from './budgets.js'
import { markWrite } from './store.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

async function allowance(hourlyUnits: number, monthlyUnits: number | null = null) {
  const text = await earn.key({ kind: 'publishable', hourlyUnits, monthlyUnits })
  const hint = `${text.slice(0, 12)}…${text.slice(-4)}`
  const rows = await earn.db<{ id: string }[]>`select id from api_keys where hint = ${hint}`
  return { keyId: rows[0]!.id, hourlyUnits, monthlyUnits }
}

/** The database, counting statements and how many are in flight at once. */
function counting(db: Database) {
  const seen = { statements: 0, inFlight: 0, inFlightMax: 0 }
  const counted = new Proxy(db, {
    apply: (target, self, args) => {
      seen.statements += 1
      seen.inFlight += 1
      seen.inFlightMax = Math.max(seen.inFlightMax, seen.inFlight)
      const done = () => {
        seen.inFlight -= 1
      }
      const result = Promise.resolve(Reflect.apply(target, self, args))
      result.then(done, done)
      return result
    },
  })
  return { db: counted, seen }
}

const mixed = [1, 3, 10]

describe('budgets', () => {
  it('serve exactly the budget to 500 calls at once through 4 independent chargers, in 10 of 10 runs', async () => {
    for (let run = 0; run < 10; run++) {
      const key = await allowance(100)
      const chargers = Array.from({ length: 4 }, () => createBudgets(earn.ctx))
      const charges = await Promise.all(Array.from({ length: 500 }, (_, i) => chargers[i % 4]!.charge(key, 1)))
      const granted = charges.filter((charge) => charge.granted)
      expect(granted).toHaveLength(100)
      const shown = granted.map((charge) => Number(charge.headers['X-RateLimit-Used'])).sort((a, b) => a - b)
      expect(shown).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
      for (const charge of charges) if (!charge.granted) expect(charge.headers['X-RateLimit-Remaining']).toBe('0')
    }
  })

  it('strand no unit under mixed costs 1, 3 and 10, in 10 of 10 runs', async () => {
    for (let run = 0; run < 10; run++) {
      const key = await allowance(97 + run)
      const chargers = [createBudgets(earn.ctx), createBudgets(earn.ctx)]
      const costs = Array.from({ length: 500 }, (_, i) => mixed[(i * 7 + run) % 3]!)
      const charges = await Promise.all(costs.map((units, i) => chargers[i % 2]!.charge(key, units)))
      const served = costs.reduce((sum, units, i) => sum + (charges[i]!.granted ? units : 0), 0)
      expect(served).toBe(97 + run)
    }
  })

  it('put what arrives meanwhile into one statement, never two in flight for a key', async () => {
    const key = await allowance(10_000)
    const { db, seen } = counting(earn.db)
    const budgets = createBudgets({ ...earn.ctx, db })
    const first = budgets.charge(key, 2)
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all([first, ...Array.from({ length: 300 }, () => budgets.charge(key, 2))])
    expect(seen).toMatchObject({ statements: 2, inFlightMax: 1 })
  })

  it('hold the month as well, and refuse what is too dear while serving what fits', async () => {
    const key = await allowance(1_000, 12)
    const budgets = createBudgets(earn.ctx)
    expect(await budgets.charge(key, 10)).toMatchObject({ granted: true })
    const refused = await budgets.charge(key, 10)
    expect(refused).toMatchObject({ granted: false, limit: 'monthly' })
    expect(refused.headers).toMatchObject({ 'X-Monthly-Usage': '10', 'X-Monthly-Remaining': '2' })
    const both = await Promise.all([budgets.charge(key, 3), budgets.charge(key, 2), budgets.charge(key, 1)])
    expect(both.map(({ granted }) => granted)).toEqual([false, true, false])
  })

  it('begin anew with the hour and with the month, and charge a process with a late clock to the newer window', async () => {
    const key = await allowance(5, 8)
    const budgets = createBudgets(earn.ctx)
    const late = createBudgets({ ...earn.ctx, clock: { ...earn.clock, now: () => new Date('2026-11-20T12:59:59Z') } })
    earn.clock.set('2026-11-20T12:59:59Z')
    expect(await budgets.charge(key, 5)).toMatchObject({ granted: true })
    expect(await budgets.charge(key, 1)).toMatchObject({ granted: false, limit: 'hourly', retryAfterSeconds: 1 })
    earn.clock.set('2026-11-20T13:00:00Z')
    expect((await budgets.charge(key, 2)).headers).toMatchObject({ 'X-RateLimit-Used': '2', 'X-Monthly-Usage': '7' })
    expect((await late.charge(key, 1)).headers).toMatchObject({ 'X-RateLimit-Used': '3', 'X-Monthly-Usage': '8' })
    expect(await budgets.charge(key, 1)).toMatchObject({ granted: false, limit: 'monthly' })
    earn.clock.set('2026-12-01T00:00:00Z')
    expect((await budgets.charge(key, 1)).headers).toMatchObject({ 'X-RateLimit-Used': '1', 'X-Monthly-Usage': '1' })
  })

  it('refuse the very first call of a key when it is dearer than the month', async () => {
    const key = await allowance(10, 5)
    expect(await createBudgets(earn.ctx).charge(key, 6)).toMatchObject({ granted: false, limit: 'monthly' })
    expect(await createBudgets(earn.ctx).charge(key, 5)).toMatchObject({ granted: true })
  })

  it('show nothing used of an hour that has begun before anything of it was charged', async () => {
    const key = await allowance(5, 50)
    earn.clock.set('2027-01-01T10:00:00Z')
    await createBudgets(earn.ctx).charge(key, 3)
    earn.clock.set('2027-01-01T11:00:00Z')
    const { headers } = await createBudgets(earn.ctx).charge(key, 0)
    expect(headers).toMatchObject({ 'X-RateLimit-Used': '0', 'X-Monthly-Usage': '3' })
  })

  it('go on counting the newer hour after a process with a late clock was charged', async () => {
    const key = await allowance(5)
    const late = createBudgets({ ...earn.ctx, clock: { ...earn.clock, now: () => new Date('2027-01-01T11:59:59Z') } })
    earn.clock.set('2027-01-01T12:00:00Z')
    const budgets = createBudgets(earn.ctx)
    await budgets.charge(key, 2)
    expect((await late.charge(key, 1)).headers).toMatchObject({ 'X-RateLimit-Used': '3' })
    expect((await budgets.charge(key, 2)).headers).toMatchObject({ 'X-RateLimit-Used': '5' })
    expect(await budgets.charge(key, 1)).toMatchObject({ granted: false, limit: 'hourly' })
  })

  it('go on counting the newer month after a process with a late clock was charged', async () => {
    const key = await allowance(50, 10)
    const late = createBudgets({ ...earn.ctx, clock: { ...earn.clock, now: () => new Date('2027-01-31T23:59:59Z') } })
    earn.clock.set('2027-02-01T00:00:00Z')
    const budgets = createBudgets(earn.ctx)
    await budgets.charge(key, 6)
    expect((await late.charge(key, 1)).headers).toMatchObject({ 'X-Monthly-Usage': '7' })
    expect((await budgets.charge(key, 0)).headers).toMatchObject({ 'X-Monthly-Usage': '7' })
    expect(await budgets.charge(key, 4)).toMatchObject({ granted: false, limit: 'monthly' })
    expect((await budgets.charge(key, 3)).headers).toMatchObject({ 'X-Monthly-Usage': '10' })
  })

  it('only tell what is used when nothing is charged, even above the limit', async () => {
    const key = await allowance(5)
    const budgets = createBudgets(earn.ctx)
    await budgets.charge(key, 5)
    const lowered = { ...key, hourlyUnits: 3 }
    expect(await budgets.charge(lowered, 0)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Used': '5' } })
    expect(await budgets.charge(lowered, 1)).toMatchObject({ granted: false })
  })

  it('refuse everything for a key of no units', async () => {
    const key = await allowance(0)
    expect(await createBudgets(earn.ctx).charge(key, 1)).toMatchObject({ granted: false, limit: 'hourly' })
  })

  it('take 1 of what a failure must have room for, in one statement with the others', async () => {
    const key = await allowance(30)
    const { db, seen } = counting(earn.db)
    const budgets = createBudgets({ ...earn.ctx, db })
    const charges = await Promise.all([
      budgets.charge(key, 10, 1),
      ...Array.from({ length: 20 }, () => budgets.charge(key, 10, 1)),
    ])
    expect(charges.every(({ granted }) => granted)).toBe(true)
    expect(charges.at(-1)?.headers['X-RateLimit-Used']).toBe('21')
    expect(await budgets.charge(key, 10, 1)).toMatchObject({ granted: false, limit: 'hourly' })
    expect(await budgets.charge(key, 9)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Remaining': '0' } })
    expect(seen.statements).toBeLessThanOrEqual(7)
  })

  it('fail when the database does, and charge again when it is back', async () => {
    const key = await allowance(5)
    let down = true
    const flaky = new Proxy(earn.db, {
      apply: (target, self, args) => (down ? Promise.reject(new Error('down')) : Reflect.apply(target, self, args)),
    })
    const budgets = createBudgets({ ...earn.ctx, db: flaky })
    const failed = await Promise.allSettled([budgets.charge(key, 1), budgets.charge(key, 1)])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    down = false
    expect(await budgets.charge(key, 1)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Used': '1' } })
  })
})

describe('what a key may have seen', () => {
  const lastEventOf = (db: Queryable) => db.view`(select 7::bigint)`
  const shared = async () => ({ ...(await allowance(100)), address: { network: '192.0.2.1', units: 50 } })

  it('is told by the charge itself where that is asked for, and costs no statement', async () => {
    for (const key of [await allowance(100), await shared()]) {
      const { db, seen } = counting(earn.db)
      const plain = createBudgets({ ...earn.ctx, db })
      const telling = createBudgets({ ...earn.ctx, db, lastEventOf })
      expect(await plain.charge(key, 1)).toMatchObject({ granted: true, seen: undefined })
      const without = seen.statements
      expect(await telling.charge(key, 1)).toMatchObject({ granted: true, seen: { lastWrite: null, lastEvent: 7 } })
      expect(seen.statements).toBe(2 * without)
    }
  })

  it('is a position that is flushed and not before the write, placed by the first charge after it', async () => {
    for (const key of [await allowance(100), await shared()]) {
      const telling = createBudgets({ ...earn.ctx, lastEventOf })
      const read = async () => {
        const charge = await telling.charge(key, 1)
        return charge.granted ? charge.seen?.lastWrite : undefined
      }
      const position = async () => {
        const [row] = await earn.db<{ at: string }[]>`select pg_current_wal_insert_lsn()::text as at`
        return parsePosition(row!.at)
      }
      expect(await read()).toBeNull()
      const before = await position()
      await inTransaction(earn.db, async (tx) => {
        // Also where commits are told not to wait.
        await tx`set local synchronous_commit to off`
        await tx`select pg_logical_emit_message(true, 'test', repeat('x', 100000))`
        await markWrite(tx, key.keyId)
      })
      const placed = await read()
      expect(parsePosition(placed!)).toBeGreaterThan(before + 100_000n)
      await earn.db`select pg_logical_emit_message(true, 'test', 'later')`
      expect(await read()).toBe(placed)
    }
  })

  it('is the end of the log where the row was copied from a server that had written more', async () => {
    const key = await allowance(100)
    const telling = createBudgets({ ...earn.ctx, lastEventOf })
    await telling.charge(key, 1)
    await earn.db`update budgets set last_write = 'FFFFFFFF/0' where key_id = ${key.keyId}`
    const charge = await telling.charge(key, 1)
    const [row] = await earn.db<{ at: string }[]>`select pg_current_wal_insert_lsn()::text as at`
    expect(parsePosition((charge.granted && charge.seen?.lastWrite) || '0/0')).toBeLessThanOrEqual(
      parsePosition(row!.at),
    )
  })
})
