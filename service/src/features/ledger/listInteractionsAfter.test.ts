import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import type { Earn } from '../../../test/harness.js'
import { entries, idOf, openLedgerWorld } from '../../../test/ledgerWorld.js'
import { newId } from '../../kernel/ids.js'
import { inTransaction } from '../../postgres/pool.js'
import { tell } from '../events/index.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
})
afterAll(() => earn?.close())

const start = '0-000000000000'
const wallet = '0x00000000000000000000000000000000000000A1'

/** The verified entries of the world, the oldest first. */
const ids = async (): Promise<string[]> =>
  (await earn.call('ListInteractions', { query: { sortOrder: 'asc' } })).body.data.map(({ id }: { id: string }) => id)

async function tellNow(type: 'confirmed' | 'retracted', ...told: string[]) {
  await inTransaction(earn.db, (tx) =>
    tell(
      tx,
      told.map((id) => ({
        ...{ type: `interaction.${type}`, at: new Date('2026-11-20T11:00:00Z'), chainId: 31337 },
        ...{ subject: { kind: 'wallet', id: wallet }, data: { id } },
      })),
    ),
  )
  await flushEvents(earn.db)
}

type Answer = { status: number; body: { data: { id: string }[]; next: string; reason?: string; context: unknown } }
const list = (query: Record<string, string | number>): Promise<Answer> => earn.call('ListInteractions', { query })
const listed = ({ body }: Answer) => body.data.map(({ id }) => id)
const latest = async (): Promise<string> =>
  (await earn.call('GetEvents', { query: { after: 'latest' }, key: earn.secret })).body.next

describe('ListInteractions after', () => {
  it('lists entries in the order in which they were told, page by page without a gap or a repeat', async () => {
    const [a, b, c, d] = (await ids()) as [string, string, string, string]
    expect(listed(await list({ after: start }))).toEqual([])
    await tellNow('confirmed', d, a, c, b)
    const whole = await list({ after: start })
    expect(whole.body).toEqual({ data: expect.anything(), next: await latest() })
    expect(listed(whole)).toEqual([d, a, c, b])
    const first = await list({ after: start, limit: 3 })
    expect(listed(first)).toEqual([d, a, c])
    const second = await list({ after: first.body.next, limit: 3 })
    expect(listed(second)).toEqual([b])
    expect((await list({ after: second.body.next })).body).toEqual({ data: [], next: second.body.next })
    const { data } = (await earn.call('ListInteractions', { query: {} })).body
    expect(whole.body.data).toEqual([d, a, c, b].map((id) => data.find((each: { id: string }) => each.id === id)))
  })

  it('goes on after an entry by its id, in any case', async () => {
    const [, b, c] = (await ids()) as [string, string, string]
    expect(listed(await list({ after: c }))).toEqual([b])
    expect(listed(await list({ after: c.toUpperCase() }))).toEqual([b])
    expect((await list({ after: b })).body).toEqual({ data: [], next: await latest() })
  })

  it('applies the other filters, and its next goes on past entries that they leave out', async () => {
    const [, b, c] = (await ids()) as [string, string, string]
    expect(listed(await list({ after: start, interactionType: 'withdraw' }))).toEqual([b])
    expect(listed(await list({ after: start, distributorId: 'beta' }))).toEqual([c])
    const page = await list({ after: start, distributorId: 'beta', limit: 1 })
    expect((await list({ after: page.body.next, distributorId: 'beta' })).body).toEqual({
      data: [],
      next: await latest(),
    })
  })

  it('goes on past more events than one step looks at', async () => {
    const before = await latest()
    const others = Array.from({ length: 10_500 }, newId)
    await tellNow('confirmed', ...others)
    await tellNow('retracted', ...others)
    await tellNow('confirmed', idOf(entries[0]!))
    expect(listed(await list({ after: before }))).toEqual([idOf(entries[0]!)])
  })

  it('lists an entry that was told again once, where it was told last', async () => {
    const [a, b, c, d] = (await ids()) as [string, string, string, string]
    await tellNow('retracted', d)
    await tellNow('confirmed', d)
    expect(listed(await list({ after: start }))).toEqual([c, b, a, d])
  })

  it('stops before an entry that was told and cannot be read yet, and goes on once it was taken back', async () => {
    const before = await latest()
    const absent = newId()
    const [a] = (await ids()) as [string]
    await tellNow('confirmed', absent, a)
    expect((await list({ after: before })).body).toEqual({ data: [], next: before })
    await tellNow('retracted', absent)
    expect(listed(await list({ after: before }))).toEqual([a])
  })

  it('answers 410 CURSOR_GONE for an entry that was taken back, one that nothing was told of, and a lost cursor', async () => {
    const [, b] = (await ids()) as [string, string]
    await tellNow('retracted', b)
    for (const after of [b, newId(), '3-aaaaaaaaaaaa', '999999-aaaaaaaaaaaa']) {
      const { status, body } = await list({ after })
      expect([status, body.reason, body.context]).toEqual([
        410,
        'CURSOR_GONE',
        expect.objectContaining({ oldest: expect.any(String) }),
      ])
    }
    await tellNow('confirmed', b)
  })

  it.each(['sortBy=date', 'page=1', 'page=2'])('answers 400 with %s', async (more) => {
    const answer = await earn.call('ListInteractions', { query: `after=${start}&${more}` })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })

  it.each(['1', 'x', '1-AAAAAAAAAAAA', '01-aaaaaaaaaaaa'])('answers 400 for the text "%s"', async (after) => {
    const answer = await earn.call('ListInteractions', { query: `after=${after}` })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})
