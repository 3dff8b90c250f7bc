import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

let world: StreamWorld
const ids: string[] = []
beforeAll(async () => {
  world = await openStreamWorld()
  for (const day of [1, 2, 3]) ids.push(await world.stream({ createdAt: `2026-11-0${day}T00:00:00Z` }))
})
afterAll(() => world.close())

const bulk = (body: Record<string, unknown>, query: Record<string, number> = {}) =>
  world.earn.call('PostStreamsBulk', { body, query })
const listed = ({ body }: Awaited<ReturnType<typeof bulk>>) => body.streams.map(({ id }: { id: string }) => id)

describe('200', () => {
  it('joins filters by and, their values by or; null is absent', async () => {
    expect(listed(await bulk({ ids: [ids[0], ids[2]], organizationIds: null }))).toEqual([ids[0], ids[2]])
    expect(listed(await bulk({ ids, organizationIds: [await world.earn.organization()] }))).toEqual([])
    const { chainId, token } = world
    const targets = [{ chainId, address: token.share.toUpperCase().replace('0X', '0x') }]
    expect(listed(await bulk({ targetTokens: targets, targetChainIds: [chainId] }))).toEqual(ids)
    expect(listed(await bulk({ targetTokens: [{ chainId: 1, address: token.share }] }))).toEqual([])
    expect(listed(await bulk({ ids: [] }))).toEqual([])
  })

  it('has a pagination where a page or a limit was given, and else none', async () => {
    expect((await bulk({ ids })).body.pagination).toBeUndefined()
    const paged = await bulk({}, { limit: 2, page: 2 })
    expect(listed(paged)).toEqual([ids[2]])
    expect(paged.body.pagination).toEqual({
      page: 2,
      limit: 2,
      total: 3,
      totalPages: 2,
      hasNext: false,
      hasPrevious: true,
    })
    expect((await bulk({ ids }, { page: 1 })).body.pagination.limit).toBe(20)
    expect((await bulk({}, { limit: 9_999 })).body.pagination.limit).toBe(500)
  })

  it('takes pageSize and pageLimit for limit, in that order, as a bound too', async () => {
    const sizes: [Record<string, number>, number][] = [
      [{ pageSize: 1 }, 1],
      [{ pageLimit: 2 }, 2],
      [{ pageLimit: 3, pageSize: 1 }, 1],
      [{ pageLimit: 3, pageSize: 1, limit: 2 }, 2],
      [{ pageSize: 9_999 }, 500],
    ]
    for (const [query, limit] of sizes)
      for (const body of [{}, { ids }]) {
        const answer = await bulk(body, query)
        expect([listed(answer), answer.body.pagination.limit]).toEqual([ids.slice(0, limit), limit])
      }
    expect(listed(await bulk({ ids }, { pageSize: 2, page: 2 }))).toEqual([ids[2]])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a filter or a limit', async () => {
    expect((await bulk({})).status).toBe(400)
    expect((await bulk({ withSnapshots: true })).status).toBe(400)
    expect((await bulk({}, { page: 1 })).status).toBe(400)
    expect((await bulk({ ids: ['x'] })).status).toBe(400)
    expect((await bulk({ targetTokens: [{ chainId: 1 }] })).status).toBe(400)
  })
})

describe('snapshots', () => {
  const day = 86_400
  type Shown = { id: string; snapshots: { timestamp: string }[]; snapshotsTruncated?: boolean; lastSnapshot: unknown }
  const streams: string[] = []
  const put = async (count: number, createdAt: string) => {
    const id = await world.stream({ createdAt })
    await world.db`
      insert into stream_snapshots (id, stream_id, snapshot_at, target_chain_id, block_number, block_hash, is_last,
        amount_base, amount_distributed, user_count, active_user_count, state, created_at, updated_at)
      select gen_random_uuid(), ${id}, to_timestamp(${1_700_000_000} + n * ${day}), ${world.chainId}, 1,
        decode(${'cd'.repeat(32)}, 'hex'), false, n, n, 0, 0, '{}', now(), now()
      from generate_series(1, ${count}::int) as n`
    streams.push(id)
  }
  beforeAll(async () => {
    await put(101, '2026-10-01T00:00:00Z')
    for (let at = 10; at < 29; at++) await put(100, `2026-10-${at}T00:00:00Z`)
    await put(150, '2026-10-30T00:00:00Z')
  })
  const ask = async (body: Record<string, unknown>, query: Record<string, number> = {}, key = world.secret) => {
    const answer = await world.earn.call('PostStreamsBulk', { body: { withSnapshots: true, ...body }, query, key })
    return { ...answer, cost: Number(answer.headers['x-request-cost']) }
  }
  const said = ({ body }: { body: { streams: Shown[] } }) =>
    body.streams.map(({ snapshots, snapshotsTruncated }) => [snapshots.length, snapshotsTruncated])

  it('are the newest hundred of a stream, and one that has more says so', async () => {
    const answer = await ask({ ids: streams.slice(0, 2) })
    expect(said(answer)).toEqual([
      [100, true],
      [100, undefined],
    ])
    const [{ snapshots }] = answer.body.streams
    const times = snapshots.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp) / 1000)
    expect(times).toEqual(Array.from({ length: 100 }, (_, at) => 1_700_000_000 + (101 - at) * day))
  })

  it('are two thousand in all, of the newest streams first; the last snapshot is told of every stream', async () => {
    const answer = await ask({ ids: streams })
    expect(said(answer)).toEqual([[0, true], ...Array(19).fill([100, undefined]), [100, true]])
    expect(answer.body.streams.every(({ lastSnapshot }: Shown) => lastSnapshot !== undefined)).toBe(true)
    const { body } = await world.earn.call('GetStreams', { query: { withSnapshots: true } })
    const count = body.streams.reduce((sum: number, { snapshots }: Shown) => sum + snapshots.length, 0)
    expect(count).toBe(2_000)
  })

  it('cost a unit more for each 500 that are told, and nothing where they are not asked for', async () => {
    expect((await ask({ ids: streams })).cost).toBe(2 + 4)
    expect((await ask({ ids: streams.slice(1, 5) })).cost).toBe(2)
    expect((await ask({ ids: streams.slice(0, 5) })).cost).toBe(2 + 1)
    expect((await ask({}, { pageSize: 10 })).cost).toBe(2 + 2)
    expect((await ask({ ids: streams, withSnapshots: false })).cost).toBe(2)
    expect((await ask({ ids: ['x'] })).cost).toBe(1)
    expect((await ask({})).cost).toBe(2)
    const all = await world.earn.call('GetStreams', { query: { withSnapshots: true } })
    expect(all.headers['x-request-cost']).toBe('6')
    expect((await world.earn.call('GetStreams', {})).headers['x-request-cost']).toBe('2')
  })

  it('are refused where the budget has no room for their whole cost, which the refusal does not take', async () => {
    const key = await world.earn.key({ kind: 'publishable', hourlyUnits: 7 })
    expect((await ask({ ids: streams }, {}, key)).headers['x-ratelimit-remaining']).toBe('1')
    const refused = await ask({ ids: streams }, {}, key)
    expect([refused.status, refused.cost, refused.headers['x-ratelimit-remaining']]).toEqual([429, 0, '1'])
  })
})
