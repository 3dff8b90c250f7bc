import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'
import { inTransaction, type Transaction } from '../../postgres/pool.js'
import { createIdempotencyRecords, type IdempotencyRecords } from './idempotencyRecords.js'

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

  it('keeps no answer while the request that took its key is still at work', async () => {
    const request = newRequest()
    const other = { status: 200, body: '{"done":"by another"}' }
    const late = records.run(request, async (keep) => {
      earn.clock.advance(60_000)
      await records.run(request, async (keepOther) => {
        const kept = inTransaction(earn.db, async (tx) => {
          await tx`insert into notes (text) values ('late')`
          await keep(tx, answer)
        })
        await expect(kept).rejects.toMatchObject({ code: 409 })
        await inTransaction(earn.db, (tx) => keepOther(tx, other))
      })
    })
    await late
    expect(await notes()).toEqual([])
    expect(await records.find(request)).toEqual({ kind: 'answered', answer: other })
  })
})
