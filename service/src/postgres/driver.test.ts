import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { createHang } from './bounds.js'
import { DatabaseUnavailable, toDatabaseError } from './errors.js'
import {
  type Database,
  type DatabaseOptions,
  inTransaction,
  isDatabaseLate,
  isDatabaseUnavailable,
  openDatabase,
  openSession,
  type Queryable,
} from './pool.js'

let test: TestDatabase
let db: Database
const opened: Database[] = []
beforeAll(async () => {
  test = await openTestDatabase()
  db = test.db
  await db`create table things (id int primary key, word text)`
})
afterAll(async () => {
  for (const pool of opened) await pool.end({ timeout: 1 })
  await test?.close()
})

function open(options: DatabaseOptions = { max: 1 }): Database {
  const pool = openDatabase(test.target, options)
  opened.push(pool)
  return pool
}

const pidOf = async (of: Queryable) => (await of<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0
const kill = (pid: number) => db`select pg_terminate_backend(${pid}, 10000)`
const words = async () => (await db<{ word: string }[]>`select word from things order by id`).map(({ word }) => word)
const unavailable = expect.toSatisfy(isDatabaseUnavailable)
const late = expect.toSatisfy(isDatabaseLate)

describe('1. a connection that is lost', () => {
  it('ends neither the process nor the pool, whoever holds it: nobody, a transaction, a cursor, a COPY', async () => {
    const pool = open()
    await kill(await pidOf(pool))
    expect(await pool`select 1 as one`).toEqual([{ one: 1 }])
    const inside = inTransaction(pool, async (tx) => {
      await kill(await pidOf(tx))
      await tx`insert into things values (1, 'lost')`
    })
    await expect(inside).rejects.toEqual(unavailable)
    const reading = inTransaction(pool, async (tx) => {
      const pid = await pidOf(tx)
      for await (const _ of tx`select * from generate_series(1, 10)`.cursor(2)) await kill(pid)
    })
    await expect(reading).rejects.toEqual(unavailable)
    const copying = inTransaction(pool, async (tx) => {
      const pid = await pidOf(tx)
      const copy = await tx`copy things from stdin`.copyIn()
      await copy.write('1\tlost\n')
      await kill(pid)
      await copy.end()
    })
    await expect(copying).rejects.toEqual(unavailable)
    expect(await words()).toEqual([])
  })

  it('is noticed by who listens: it listens again, and says so', async () => {
    const pool = open()
    const heard: string[] = []
    let wake: () => void = () => undefined
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve
      })
    const first = next()
    const { unlisten } = await pool.listen(
      'news',
      (payload) => {
        heard.push(payload)
        wake()
      },
      () => {
        heard.push('open')
        wake()
      },
    )
    await first
    const again = next()
    await db`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query = 'listen "news"'`
    await again
    const told = next()
    await db`select pg_notify('news', 'hello')`
    await told
    expect(heard).toEqual(['open', 'open', 'hello'])
    await unlisten()
  })
})

describe('2. connections', () => {
  it('are lent to one at a time, in order, and never more than the pool may have', async () => {
    const pool = open({ max: 2 })
    let inside = 0
    let insideMax = 0
    let meet: () => void = () => undefined
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    const visit = () =>
      inTransaction(pool, async (tx) => {
        inside += 1
        insideMax = Math.max(insideMax, inside)
        // Nobody goes on before two are there at once.
        if (inside === 2) meet()
        await met
        const pid = await pidOf(tx)
        inside -= 1
        return pid
      })
    const pids = await Promise.all(Array.from({ length: 20 }, visit))
    expect([new Set(pids).size, insideMax]).toEqual([2, 2])
    await inTransaction(pool, async (tx) => {
      const own = await Promise.all([pidOf(tx), pidOf(tx), pidOf(pool), pidOf(tx)])
      expect(new Set([own[0], own[1], own[3]]).size).toBe(1)
      expect(own[2]).not.toBe(own[0])
    })
  })

  it('of a session is one: when it is lost, what was asked of it is lost, and nothing more can be', async () => {
    const session = openSession(db)
    opened.push(session)
    await session`select pg_advisory_lock(5)`
    await kill(await pidOf(session))
    await expect(session`select 1`).rejects.toEqual(unavailable)
    await expect(session`select 1`).rejects.toEqual(unavailable)
  })

  it('are refused once the pool ends, to who waits as well, and what runs too long is cut', async () => {
    const pool = open()
    const running = pool`select pg_sleep(600)`.catch((error: unknown) => error)
    const waiting = pool`select 1`.catch((error: unknown) => error)
    // Asked on another connection, so that the first is at work.
    await pidOf(db)
    await pool.end({ timeout: 0.05 })
    expect([await running, await waiting]).toEqual([unavailable, unavailable])
    await expect(pool`select 1`).rejects.toEqual(unavailable)
  })
})

// Most of these wait for a bound to pass: they do so at once.
describe.concurrent('3. a bound', () => {
  const tight = { lockMs: patient(300), statementMs: patient(1_000), answerMs: patient(60_000) }
  /** The server minds no time; only the answer is waited for so long. */
  const deaf = { lockMs: patient(60_000), statementMs: patient(60_000), answerMs: patient(1_000) }

  it('is kept by the server, for statements and for waiting for a lock, and the connection stays', async () => {
    const pool = open({ max: 1, bounds: tight })
    const pid = await pidOf(pool)
    await expect(pool`select pg_sleep(600)`).rejects.toMatchObject({ code: '57014' })
    await db`insert into things values (7, 'locked')`
    await inTransaction(db, async (tx) => {
      await tx`update things set word = 'mine' where id = 7`
      const waiting = pool`update things set word = 'yours' where id = 7`
      await expect(waiting).rejects.toMatchObject({ code: '55P03' })
      await expect(waiting).rejects.toEqual(late)
    })
    await db`delete from things`
    expect(await pidOf(pool)).toBe(pid)
  })

  it('cuts the connection of a server that does not answer: of a statement, a transaction, a cursor, a COPY', async () => {
    await db`create table late_things (id int primary key, word text)`
    await db`create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$`
    await db`create trigger slow before insert on late_things for each row when (new.id = 1) execute function slow()`
    const isCut = async (work: (pool: Database) => Promise<unknown>) => {
      const pool = open({ max: 1, bounds: deaf })
      const pid = await pidOf(pool)
      await expect(work(pool)).rejects.toEqual(late)
      // The server goes on with what nobody waits for.
      await kill(pid)
      expect(await pidOf(pool)).not.toBe(pid)
    }
    await Promise.all([
      isCut((pool) => pool`select pg_sleep(600)`),
      isCut((pool) =>
        inTransaction(pool, async (tx) => {
          await tx`insert into late_things values (10, 'late')`
          await tx`select pg_sleep(600)`
        }),
      ),
      isCut(async (pool) => {
        const rows = pool`select pg_sleep(case when n = 50 then 600 else 0 end) from generate_series(1, 99) n`
        for await (const _ of rows.cursor(9)) expect(_).toBeDefined()
      }),
      isCut(async (pool) => {
        const copy = await pool`copy late_things from stdin`.copyIn()
        await copy.write('1\tlate\n')
        await copy.end()
      }),
    ])
    expect(await db`select from late_things`).toHaveLength(0)
  })

  it('never ends a cursor early: all rows come, or an error', async () => {
    const pool = open({ max: 1, bounds: { ...tight, answerMs: patient(20_000) } })
    const seen: number[] = []
    const rows = pool<{ n: number }[]>`select n from generate_series(1, 5000) n`.cursor(500)
    for await (const chunk of rows) {
      // More time than a statement has, all in all.
      await db`select pg_sleep(${patient(0.15)})`
      seen.push(...chunk.map(({ n }) => n))
    }
    expect(seen).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1))
  })

  it('that was passed by a server known to hang refuses everything at once, but for one who tries', async () => {
    const judging = (retryMs: number) => {
      const hang = createHang(retryMs)
      return [
        open({ max: 2, bounds: { ...deaf, hang, judges: true } }),
        open({ max: 2, bounds: { ...deaf, hang } }),
      ] as const
    }
    const staysShut = async () => {
      const [admission, operation] = judging(600_000)
      await expect(operation`select pg_sleep(600)`).rejects.toEqual(late)
      // Too much was asked; that says nothing of the server.
      expect(await admission`select 1 as one`).toEqual([{ one: 1 }])
      await expect(admission`select pg_sleep(600)`).rejects.toEqual(late)
      // By then the connection that was cut has ended, which is no answer.
      await pidOf(db)
      await expect(admission`select 1`).rejects.toEqual(late)
      await expect(inTransaction(operation, async (tx) => tx`select 1`)).rejects.toEqual(late)
    }
    const isTried = async () => {
      const [other] = judging(0)
      await expect(other`select pg_sleep(600)`).rejects.toEqual(late)
      expect(await other`select 1 as one`).toEqual([{ one: 1 }])
    }
    await Promise.all([staysShut(), isTried()])
  })
})

describe('4. a client that saw its connection fail', () => {
  it('is used by nobody again, while one that saw a refusal is', async () => {
    const pool = open()
    const first = await pidOf(pool)
    await expect(pool`select nonsense`).rejects.toMatchObject({ code: '42703' })
    expect(await pidOf(pool)).toBe(first)
    await expect(pool`select pg_terminate_backend(pg_backend_pid())`).rejects.toMatchObject({ code: '57P01' })
    expect(await pidOf(pool)).not.toBe(first)
  })
})

describe('5. a prepared statement', () => {
  const prepared = async (of: Queryable) =>
    (await of.unsafe<{ statement: string }[]>('select statement from pg_prepared_statements')).map(
      ({ statement }) => statement,
    )

  it('is one of fixed text, once a connection; what is put together is not prepared', async () => {
    const pool = open()
    const find = (id: number) => pool`select word from things where id = ${id}`
    for (const id of [1, 2, 3]) await find(id)
    await pool`select 1 ${pool`where true`}`
    expect(await prepared(pool)).toEqual(['select word from things where id = $1'])
  })

  it('is prepared anew when its table has changed', async () => {
    const pool = open()
    await db`create table shapes (a int)`
    const read = (of: Queryable) => of`select * from shapes`
    const both = async () => [await read(pool), await inTransaction(pool, read)].map(({ columns }) => columns.length)
    expect(await both()).toEqual([1, 1])
    await db`alter table shapes add b int`
    expect(await inTransaction(pool, read)).toEqual([])
    await db`alter table shapes add c int`
    expect(await both()).toEqual([3, 3])
  })
})

describe('6. a column', () => {
  it('reads by its type: exact numbers as text, small ones as numbers, instants, JSON, bytes, arrays', async () => {
    const [row] = await db`
      select 12::bigint as big, 1.50::numeric as exact, array[1.5, null]::numeric[] as exacts, array[1, null]::bigint[] as bigs,
        '2026-01-02 03:04:05.678901+00'::timestamptz as at, array['2026-01-02 00:00:00+00'::timestamptz] as ats,
        '{"a": [1]}'::jsonb as json, '\\x01ff'::bytea as bytes, array['a,"b\\', null] as texts, true as flag, null as nothing,
        array['x'::name] as names, 1.5::float8 as float, '11111111-1111-4111-8111-111111111111'::uuid as id`
    expect(row).toEqual({
      ...{ big: 12, exact: '1.50', exacts: ['1.5', null], bigs: [1, null], flag: true, nothing: null, float: 1.5 },
      ...{ at: new Date('2026-01-02T03:04:05.678Z'), ats: [new Date('2026-01-02T00:00:00Z')] },
      ...{ json: { a: [1] }, bytes: Buffer.from([1, 255]), texts: ['a,"b\\', null], names: ['x'] },
      id: '11111111-1111-4111-8111-111111111111',
    })
  })

  it('of bigint beyond 2^53 is refused, in a cursor too, and the connection stays', async () => {
    const pool = open()
    const pid = await pidOf(pool)
    await expect(pool`select 9007199254740993::bigint as n`).rejects.toThrow('beyond 2^53')
    const drain = async () => {
      for await (const _ of pool`select 9007199254740993::bigint as n`.cursor(10)) expect(_).toBeUndefined()
    }
    await expect(drain()).rejects.toThrow('beyond 2^53')
    expect(await pidOf(pool)).toBe(pid)
  })

  it('gives back what was sent: instants, bytes, JSON, any text in an array', async () => {
    const texts = ['', 'NULL', 'a,b', '{}', '"', '\\', ' x ', '\n', 'ü€😀', null]
    const at = new Date('2026-11-22T01:02:03.004Z')
    const [row] = await db`
      select ${texts}::text[] as texts, ${at}::timestamptz as at, ${Uint8Array.of(0, 1, 255)}::bytea as bytes,
        ${[Uint8Array.of(0, 92), Uint8Array.of()]}::bytea[] as many, ${db.json({ a: '"\\', b: [1] })}::jsonb as json,
        ${[true, null, false]}::bool[] as flags, ${[1n, -5n]}::numeric[] as amounts`
    expect(row).toEqual({
      ...{ texts, at, bytes: Buffer.from([0, 1, 255]), many: [Buffer.from([0, 92]), Buffer.from([])] },
      ...{ json: { a: '"\\', b: [1] }, flags: [true, null, false], amounts: ['1', '-5'] },
    })
  })

  it('is counted: rows read, rows changed', async () => {
    expect((await db`select from generate_series(1, 3)`).count).toBe(3)
    expect((await db`insert into things select n, 'x' from generate_series(1, 4) n`).count).toBe(4)
    expect((await db`update things set word = 'y' where id > 2`).count).toBe(2)
    expect((await db`delete from things`).count).toBe(4)
    expect((await db`select 1 as one, 'x' as word limit 0`).columns.map(({ name }) => name)).toEqual(['one', 'word'])
  })
})

describe('a failure', () => {
  it('of the driver without an SQLSTATE means that the database is unavailable, whatever its text or code', async () => {
    const failures = [new Error('Connection terminated'), Object.assign(new Error('x'), { code: 'EPIPE' })]
    for (const failure of failures) {
      expect(toDatabaseError(failure)).toBeInstanceOf(DatabaseUnavailable)
      // It was not the driver that threw this one.
      expect(isDatabaseUnavailable(failure)).toBe(false)
    }
    const nowhere = open({ max: 1 })
    await nowhere.end()
    await expect(nowhere`select 1`).rejects.toEqual(unavailable)
    const away = openDatabase({ host: '/nonexistent', port: 1, database: 'x', username: 'x' })
    await expect(away`select 1`).rejects.toEqual(unavailable)
    await expect(inTransaction(away, async () => 1)).rejects.toEqual(unavailable)
    await expect(
      away.listen(
        'x',
        () => undefined,
        () => undefined,
      ),
    ).rejects.toEqual(unavailable)
  })

  it('that the server explains keeps its SQLSTATE: some say that it is unavailable, others what is wrong', async () => {
    const raised = (code: string) =>
      db.unsafe(`do $$ begin raise 'x' using errcode = '${code}'; end $$`).catch((error: unknown) => error)
    for (const code of ['57P01', '08006', '53100', '53300', '25006']) expect(await raised(code)).toEqual(unavailable)
    for (const code of ['57014', '55P03']) expect(await raised(code)).toEqual(late)
    for (const code of ['23505', '28P01', '42703']) expect(await raised(code)).not.toEqual(unavailable)
  })
})
