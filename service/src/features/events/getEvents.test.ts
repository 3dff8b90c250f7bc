import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'
import type { Fact } from '../../postgres/context.js'
import { inTransaction, type Queryable } from '../../postgres/pool.js'
import { moveAll, tell } from './index.js'

const wallet = '0x00000000000000000000000000000000000000A1'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn?.close())

const fact = (id: string, more: Partial<Fact> = {}): Fact => ({
  type: 'interaction.confirmed',
  at: new Date('2026-11-20T11:00:00Z'),
  chainId: 31337,
  subject: { kind: 'wallet', id: wallet },
  data: { id },
  ...more,
})

const tellNow = async (...facts: Fact[]) => {
  await inTransaction(earn.db, (tx) => tell(tx, facts))
  await flushEvents(earn.db)
}

type Page = { status: number; body: { data: { id: string; cursor: string; data: { id: string } }[]; next: string } }
const read = (query: Record<string, string | number> = {}, key = earn.secret): Promise<Page> =>
  earn.call('GetEvents', { query, key })
const idsOf = ({ body }: Page) => body.data.map(({ data }) => data.id)

describe('GetEvents 200', () => {
  it('is empty before the first event, and its cursor finds what comes later', async () => {
    const empty = await read()
    expect(empty.body.data).toEqual([])
    await tellNow(fact('one'), fact('two', { late: true }))
    const page = await read({ after: empty.body.next })
    expect(idsOf(page)).toEqual(['one', 'two'])
    expect(page.body.data[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      cursor: page.body.next,
      type: 'interaction.confirmed',
      timestamp: '2026-11-20T11:00:00Z',
      chainId: 31337,
      late: true,
      subject: { kind: 'wallet', id: wallet },
      data: { id: 'two' },
    })
    expect((await read({ after: page.body.next })).body).toEqual({ data: [], next: page.body.next })
  })

  it('goes on page by page without a gap or a repeat, from the cursor of an event as well as from next', async () => {
    const { next: start } = (await read({ after: 'latest' })).body
    const names = Array.from({ length: 7 }, (_, index) => `p${index}`)
    await tellNow(...names.map((name) => fact(name)))
    const seen: string[] = []
    for (let after = start; ; ) {
      const page = await read({ after, limit: 3 })
      if (page.body.data.length === 0) break
      seen.push(...idsOf(page))
      after = page.body.next
    }
    expect(seen).toEqual(names)
    const third = (await read({ after: start, limit: 3 })).body.data[2]
    expect(idsOf(await read({ after: third?.cursor ?? '' }))).toEqual(names.slice(3))
  })

  it('selects types, by commas and repeated, and goes on past events of other types', async () => {
    const { next } = (await read({ after: 'latest' })).body
    await tellNow(fact('a'), fact('b', { type: 'interaction.retracted' }), fact('c'))
    const page = await read({ after: next, types: 'interaction.retracted' })
    expect(idsOf(page)).toEqual(['b'])
    expect((await read({ after: page.body.next, types: 'interaction.retracted' })).body.data).toEqual([])
    const both = `after=${next}&types=interaction.retracted&types=interaction.confirmed`
    expect(idsOf(await earn.call('GetEvents', { query: both, key: earn.secret }))).toEqual(['a', 'b', 'c'])
  })

  it("shows an organization's own facts to its keys alone", async () => {
    const { next } = (await read({ after: 'latest' })).body
    const other = await earn.organization()
    const key = await earn.key({ kind: 'secret', organizationId: other })
    await tellNow(fact('ours', { organizationId: earn.organizationId }), fact('all'))
    expect(idsOf(await read({ after: next }))).toEqual(['ours', 'all'])
    expect(idsOf(await read({ after: next }, key))).toEqual(['all'])
  })

  it('waits for an event, and returns as soon as it is told', async () => {
    const { next } = (await read({ after: 'latest' })).body
    const waiting = read({ after: next, waitSeconds: 25 })
    await inTransaction(earn.db, (tx) => tell(tx, [fact('awaited')]))
    expect(idsOf(await waiting)).toEqual(['awaited'])
  })

  it('returns an empty page with the same cursor when nothing comes while it waits', async () => {
    const { next } = (await read({ after: 'latest' })).body
    expect((await read({ after: next, waitSeconds: 1 })).body).toEqual({ data: [], next })
  })
})

describe('GetEvents 400', () => {
  it.each([
    ['after', 'x'],
    ['after', '1-ABCDEF012345'],
    ['types', 'interaction.lost'],
    ['limit', 0],
    ['limit', 501],
    ['waitSeconds', 26],
  ])('refuses %s=%s and names it', async (name, value) => {
    const answer = await earn.call('GetEvents', { query: { [name]: value }, key: earn.secret })
    expect(answer.status).toBe(400)
    expect(answer.body.context.violations[0].path).toBe(name)
  })
})

describe('GetEvents 403', () => {
  it('refuses a publishable key, and a call without a key with 401', async () => {
    expect((await earn.call('GetEvents', { key: null })).status).toBe(401)
    expect((await earn.call('GetEvents', {})).status).toBe(403)
  })
})

describe('GetEvents 410', () => {
  it('refuses a cursor of the future, of another database, and of events that were pruned', async () => {
    await tellNow(fact('last'))
    const { next } = (await read({ after: 'latest' })).body
    const [position = ''] = next.split('-')
    const lost = [
      `${Number(position) + 1}-${next.split('-')[1]}`,
      `${position}-000000000000`,
      '900000000000-abcdefabcdef',
    ]
    for (const after of lost) {
      const answer = await earn.call('GetEvents', { query: { after }, key: earn.secret })
      expect(answer.status).toBe(410)
      expect(answer.body).toMatchObject({ code: 410, status: 'GONE', reason: 'CURSOR_GONE' })
      expect((await read({ after: answer.body.context.oldest })).status).toBe(200)
    }
    const first = (await read({ limit: 1 })).body.data[0]
    await earn.db`delete from feed where position < ${Number(position)}`
    for (const after of [first?.cursor ?? '', '0-000000000000']) {
      const answer = await earn.call('GetEvents', { query: { after }, key: earn.secret })
      expect(answer.status).toBe(410)
      expect(answer.body.context.oldest).toBe(next)
    }
    expect(idsOf(await read())).toEqual(['last'])
  })
})

describe('the feed', () => {
  it('tells nothing of a transaction that did not commit', async () => {
    const { next } = (await read({ after: 'latest' })).body
    const failing = inTransaction(earn.db, async (tx) => {
      await tell(tx, [fact('never')])
      throw new Error('broken')
    })
    await expect(failing).rejects.toThrow('broken')
    await tellNow(fact('after'))
    expect(idsOf(await read({ after: next }))).toEqual(['after'])
  })

  it('gives an earlier transaction that commits later a later position, so that no cursor misses it', async () => {
    const { next } = (await read({ after: 'latest' })).body
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let slow = Promise.resolve()
    await new Promise<void>((written) => {
      slow = inTransaction(earn.db, async (tx) => {
        await tell(tx, [fact('slow')])
        written()
        await held
      })
    })
    await tellNow(fact('fast'))
    const page = await read({ after: next })
    expect(idsOf(page)).toEqual(['fast'])
    release()
    await slow
    await flushEvents(earn.db)
    expect(idsOf(await read({ after: page.body.next }))).toEqual(['slow'])
  })

  it('tells two writers of one subject in the order of its row, also where the earlier transaction waited for the later one', async () => {
    const { next } = (await read({ after: 'latest' })).body
    await earn.db`create table subject_row (id int primary key, state text)`
    await earn.db`insert into subject_row values (1, 'first')`
    const change = (tx: Queryable, state: string) => tx`update subject_row set state = ${state} where id = 1`
    let begun: () => void = () => undefined
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    let go: () => void = () => undefined
    const isLocked = new Promise<void>((resolve) => {
      go = resolve
    })
    const early = inTransaction(earn.db, async (tx) => {
      // It has its transaction id before the other begins.
      await tx`select pg_current_xact_id()`
      begun()
      await isLocked
      await change(tx, 'third')
      await tell(tx, [fact('of the row, third')])
    })
    await hasBegun
    await inTransaction(earn.db, async (tx) => {
      await change(tx, 'second')
      go()
      const waits = () =>
        earn.db`select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update subject_row%'`
      await expect.poll(async () => (await waits()).length).toBe(1)
      await tell(tx, [fact('of the row, second')])
    })
    await early
    await flushEvents(earn.db)
    expect(idsOf(await read({ after: next }))).toEqual(['of the row, second', 'of the row, third'])
    await earn.db`drop table subject_row`
  })

  it('has each fact of 12 writers once, in the order of its subject, while three processes move them', async () => {
    const { next } = (await read({ after: 'latest' })).body
    const writers = 12
    const facts = 25
    let isWriting = true
    const mover = async () => {
      while (isWriting) await moveAll(earn.db)
    }
    const movers = [mover(), mover(), mover()]
    const write = async (writer: number) => {
      const subject = { kind: 'order', id: newId() } as const
      for (let index = 0; index < facts; index++)
        await inTransaction(earn.db, async (tx) => {
          await tell(tx, [fact(`${writer}.${index}`, { subject })])
          // Every third transaction takes back what it said.
          if (index % 3 === 2) throw new Error('taken back')
        }).catch((error: Error) => expect(error.message).toBe('taken back'))
    }
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    isWriting = false
    await Promise.all(movers)
    await flushEvents(earn.db)
    const seen = idsOf(await read({ after: next, limit: 500 }))
    const kept = Array.from({ length: facts }, (_, index) => index).filter((index) => index % 3 !== 2)
    for (let writer = 0; writer < writers; writer++) {
      const own = seen.filter((id) => id.startsWith(`${writer}.`))
      expect(own).toEqual(kept.map((index) => `${writer}.${index}`))
    }
    expect(seen).toHaveLength(writers * kept.length)
    const positions = await earn.db<{ position: number }[]>`select position from feed order by position`
    const first = positions[0]?.position ?? 0
    expect(positions.map(({ position }) => position)).toEqual(positions.map((_, index) => first + index))
  })
})
