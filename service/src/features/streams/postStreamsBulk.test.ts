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
