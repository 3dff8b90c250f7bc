import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../contracts/test/until.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'
import { inTransaction, type Transaction } from '../../postgres/pool.js'
import { createIdempotencyRecords, type IdempotencyRecords, type KeepAnswer } from './idempotencyRecords.js'

let earn: Earn
let records: IdempotencyRecords
beforeAll(async () => {
  earn = await openEarn()
  records = createIdempotencyRecords(earn.ctx)
  await earn.db`create table notes (text text primary key)`
})
afterAll(() => earn.close())
beforeEach(async () => {
  await earn.db`truncate notes`
})

const answer = { status: 200, body: '{"done":true}' }
const newRequest = () => ({
  ...({ organizationId: earn.organizationId, keyKind: 'secret', key: newId() } as const),
  fingerprint: Buffer.from('what is asked'),
})
const notes = async (db: Earn['db'] | Transaction = earn.db) =>
  (await db<{ text: string }[]>`select text from notes order by text`).map(({ text }) => text)
/** Transactions open in this database, not in those of other tests. */
const countOpen = async () => {
  const rows = await earn.db`
    select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`
  return rows.length
}

describe('the work of a request under an Idempotency-Key', () => {
  it('holds no connection before it writes, and shows what it writes to itself alone until the answer is kept', async () => {
    const request = newRequest()
    await records.run(request, async (keep) => {
      expect(await notes()).toEqual([])
      expect(await countOpen()).toBe(0)
      await inTransaction(earn.db, async (tx) => {
        await tx`insert into notes (text) values ('a')`
        expect(await countOpen()).toBe(1)
        expect([await notes(tx), await notes()]).toEqual([['a'], []])
        await keep(tx, answer)
        expect(await records.find(request)).toMatchObject({ kind: 'refused', error: { code: 409 } })
      })
    })
    expect(await notes()).toEqual(['a'])
    expect(await countOpen()).toBe(0)
    expect(await records.find(request)).toEqual({ kind: 'answered', answer })
  })

  it.each([
    ['before the write', 'before'],
    ['in the write', 'in'],
    ['after the answer, before the commit', 'after'],
  ])('leaves neither writes nor answer when it fails %s, and the key is free', async (_name, at) => {
    const request = newRequest()
    const fail = (now: string) => {
      if (now === at) throw new Error('failed')
    }
    const work = records.run(request, async (keep) => {
      fail('before')
      await inTransaction(earn.db, async (tx) => {
        await tx`insert into notes (text) values ('a')`
        fail('in')
        await keep(tx, answer)
        fail('after')
      })
    })
    await expect(work).rejects.toThrow('failed')
    expect(await notes()).toEqual([])
    expect(await records.find(request)).toBeUndefined()
    expect(await earn.db`select from idempotency_keys where key = ${request.key}`).toHaveLength(0)
  })

  it('writes once where its transaction is run again, and keeps one answer', async () => {
    const request = newRequest()
    let runs = 0
    await records.run(request, (keep) =>
      inTransaction(earn.db, async (tx) => {
        runs += 1
        await tx`insert into notes (text) values ('a')`
        await keep(tx, answer)
        if (runs === 1) await tx`do $$ begin raise exception using errcode = 'serialization_failure'; end $$`
      }),
    )
    expect([runs, await notes()]).toEqual([2, ['a']])
    expect(await records.find(request)).toEqual({ kind: 'answered', answer })
  })

  it('commits statements sent at once and composed ones together, or, where one of them fails, none', async () => {
    const work = (texts: readonly string[]) =>
      records.run(newRequest(), (keep) =>
        inTransaction(earn.db, async (tx) => {
          await Promise.all(texts.map((text) => tx`insert into notes (text) values (${text})`))
          const where = tx`where text = ${'b'}`
          expect((await tx`with gone as (delete from notes ${where} returning text) select text from gone`).count).toBe(
            1,
          )
          await keep(tx, answer)
        }),
      )
    await work(['a', 'b', 'c'])
    expect(await notes()).toEqual(['a', 'c'])
    await expect(work(['b', 'd', 'a'])).rejects.toMatchObject({ code: '23505' })
    expect(await notes()).toEqual(['a', 'c'])
  })

  it('that was committed is never done again, though the database was not heard to say so', async () => {
    const request = newRequest()
    const work = records.run(request, async (keep) => {
      await inTransaction(earn.db, (tx) => keep(tx, answer))
      throw new Error('the connection was lost')
    })
    await expect(work).rejects.toThrow('the connection was lost')
    expect(await records.find(request)).toEqual({ kind: 'answered', answer })
  })

  it('keeps no answer once another request has taken the key, and leaves that one its own', async () => {
    const request = newRequest()
    const other = { status: 200, body: '{"done":"by another"}' }
    const work = records.run(request, (keep) =>
      inTransaction(earn.db, async (tx) => {
        await tx`insert into notes (text) values ('late')`
        earn.clock.advance(60_000)
        await records.run(request, (keepOther) => inTransaction(earn.db, (own) => keepOther(own, other)))
        await keep(tx, answer)
      }),
    )
    await expect(work).rejects.toMatchObject({ code: 409, retryAfterSeconds: 1 })
    expect(await notes()).toEqual([])
    expect(await records.find(request)).toEqual({ kind: 'answered', answer: other })
  })

  /** A request that outlives its lease, and ends as it is told to while another one has its key and is at work. */
  const outlive = async (end: (keep: KeepAnswer) => Promise<void>) => {
    const request = newRequest()
    const other = { status: 200, body: '{"done":"by another"}' }
    const seen = { taken: false, ended: false }
    let successor: Promise<void> | undefined
    const late = records.run(request, async (keep) => {
      earn.clock.advance(60_000)
      successor = records.run(request, async (keepOther) => {
        seen.taken = true
        await until('the end of the late request', () => seen.ended)
        await inTransaction(earn.db, (tx) => keepOther(tx, other))
      })
      await Promise.race([until('the successor', () => seen.taken), successor])
      await end(keep)
    })
    const failure: unknown = await late.catch((error: unknown) => error)
    const meanwhile = await records.find(request)
    seen.ended = true
    await successor
    expect(await records.find(request)).toEqual({ kind: 'answered', answer: other })
    return { failure, meanwhile }
  }

  it('keeps no answer, and writes nothing, while the request that took its key is still at work', async () => {
    const { failure, meanwhile } = await outlive((keep) =>
      inTransaction(earn.db, async (tx) => {
        await tx`insert into notes (text) values ('late')`
        await keep(tx, answer)
      }),
    )
    expect([failure, meanwhile]).toMatchObject([{ code: 409 }, { kind: 'refused', error: { code: 409 } }])
    expect(await notes()).toEqual([])
  })

  it('leaves its successor the key when it fails after its lease, before the successor is done', async () => {
    const { failure, meanwhile } = await outlive(() => Promise.reject(new Error('late, and failed')))
    expect(failure).toMatchObject({ message: 'late, and failed' })
    expect(meanwhile).toMatchObject({ kind: 'refused', error: { code: 409 } })
  })

  it('is not done again once it is answered, though the lease of the first has run out', async () => {
    const request = newRequest()
    await records.run(request, (keep) => inTransaction(earn.db, (tx) => keep(tx, answer)))
    earn.clock.advance(60_000)
    let runs = 0
    const again = records.run(request, async () => {
      runs += 1
    })
    await expect(again).rejects.toMatchObject({ code: 409, retryAfterSeconds: 1 })
    expect([runs, await records.find(request)]).toEqual([0, { kind: 'answered', answer }])
  })

  it('is not done again by one that saw its lease run out just before it was answered', async () => {
    const request = newRequest()
    let second: Promise<unknown> | undefined
    await records.run(request, async (keep) => {
      earn.clock.advance(60_000)
      const db = before('update idempotency_keys set fingerprint', () =>
        inTransaction(earn.db, (tx) => keep(tx, answer)),
      )
      second = createIdempotencyRecords({ ...earn.ctx, db })
        .run(request, () => Promise.reject(new Error('done twice')))
        .catch((error: unknown) => error)
      await second
    })
    expect(await second).toMatchObject({ code: 409, retryAfterSeconds: 1 })
    expect(await records.find(request)).toEqual({ kind: 'answered', answer })
  })

  it('is done again by one alone of two that saw its lease run out', async () => {
    const request = newRequest()
    const seen = { taken: false, ended: false }
    let successor: Promise<void> | undefined
    const succeed = async () => {
      successor = records.run(request, async (keep) => {
        seen.taken = true
        await until('the end of the other one', () => seen.ended)
        await inTransaction(earn.db, (tx) => keep(tx, answer))
      })
      await Promise.race([until('the successor', () => seen.taken), successor])
    }
    const late = records.run(request, async () => {
      earn.clock.advance(60_000)
      const db = before('update idempotency_keys set fingerprint', succeed)
      await createIdempotencyRecords({ ...earn.ctx, db }).run(request, () => Promise.reject(new Error('done twice')))
    })
    await expect(late).rejects.toMatchObject({ code: 409, retryAfterSeconds: 1 })
    seen.ended = true
    await successor
    expect(await records.find(request)).toEqual({ kind: 'answered', answer })
  })
})

/** The database, where something happens just before a statement that begins so. */
function before(start: string, happen: () => Promise<unknown>): Earn['db'] {
  return new Proxy(earn.db, {
    apply: (target, self, args: [TemplateStringsArray, ...unknown[]]) =>
      args[0].join().trim().startsWith(start)
        ? happen().then(() => Reflect.apply(target, self, args))
        : Reflect.apply(target, self, args),
  })
}
