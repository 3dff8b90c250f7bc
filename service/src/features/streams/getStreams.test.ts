import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld, tokenIdOf } from '../../../test/streamWorld.js'

let world: StreamWorld
let paid: string
let points: string
const cat = `0x${'ca'.repeat(20)}`
beforeAll(async () => {
  world = await openStreamWorld()
  paid = await world.stream({ createdAt: '2026-11-01T00:00:00Z', endsAt: '2026-12-01T00:00:00Z' })
  points = await world.stream({ pointId: await world.point(), createdAt: '2026-11-02T00:00:00Z' })
})
afterAll(() => world.close())

const get = (query: Record<string, string | boolean> = {}) => world.earn.call('GetStreams', { query })

describe('200', () => {
  it('shows a stream as it was created, its budget with what was added and is confirmed', async () => {
    await world.event(paid, 'funds-added', { amount: '500', fee: '8', at: world.confirmed })
    await world.event(paid, 'funds-added', { amount: '7', fee: '1', at: world.confirmed + 1 })
    const { body } = await get({ id: paid })
    expect(body.streams).toHaveLength(1)
    expect(body.streams[0]).toMatchObject({
      ...{ id: paid, orgId: world.earn.organizationId, userId: null, type: 1, strategy: 'fixed-rate' },
      ...{ chainId: world.chainId, totalAmount: '1000500', feeAmount: '15008' },
      ...{ startTimestamp: '2026-11-01T00:00:00Z', endTimestamp: '2026-12-01T00:00:00Z' },
      rewardToken: { id: tokenIdOf('reward'), symbol: 'RWD', isAllowedRewardToken: true },
      customArgs: {
        ...{ targetTokenId: tokenIdOf('share'), tokensPerUSD: '1000' },
        targetToken: { symbol: 'yTUSD', chain: { chainId: '31337' } },
      },
    })
    expect(body.streams[0].contractAddress.toLowerCase()).toBe(world.contractOf(paid))
    expect(body.streams[0].point).toBeUndefined()
  })

  it('lists confirmed streams of all organizations, oldest first, and none whose creation is not', async () => {
    const foreign = await world.stream({ organizationId: await world.earn.organization() })
    await world.stream({ createdBlock: null })
    await world.stream({ createdBlock: world.confirmed + 1 })
    const { body } = await get()
    expect(body.streams.map(({ id }: { id: string }) => id)).toEqual([paid, points, foreign])
    const own = await get({ orgId: world.earn.organizationId })
    expect(own.body.streams.map(({ id }: { id: string }) => id)).toEqual([paid, points])
    expect((await get({ id: '01890a5d-ac96-774b-bcce-b302099a8057' })).body).toEqual({ streams: [] })
  })

  it('shows of points what they are, and no chain', async () => {
    const { body } = await get({ id: points })
    const nothing = { chainId: null, contractAddress: null, admin: null, totalAmount: null, feeAmount: null }
    expect(body.streams[0]).toMatchObject({ ...nothing, point: { symbol: 'PTS', decimals: 18 } })
    expect(body.streams[0].creationConfirmedAt).toBe('2026-11-02T00:00:00Z')
  })

  it('shows the newest snapshot and the newest that is committed, and all of them where asked', async () => {
    const first = await world.snapshot(paid, '2026-11-05T00:00:00Z', { [cat]: 5n })
    await world.snapshot(paid, '2026-11-06T00:00:00Z', { [cat]: 9n })
    await world.event(paid, 'root', { root: first, rootAt: new Date('2026-11-05T00:00:00Z'), total: '5' })
    const [plain] = (await get({ id: paid })).body.streams
    expect(plain.lastSnapshot).toMatchObject({
      timestamp: '2026-11-06T00:00:00Z',
      amountDistributed: '9',
      userCount: 1,
    })
    expect(plain.lastSnapshot.commitTxHash).toBeNull()
    expect(plain.committedSnapshot).toMatchObject({ rootHash: first, commitTxHash: `0x${'ab'.repeat(32)}` })
    expect(plain.snapshots).toBeUndefined()
    const [whole] = (await get({ id: paid, withSnapshots: true, usersCount: false })).body.streams
    const times = whole.snapshots.map(({ timestamp }: { timestamp: string }) => timestamp)
    expect(times).toEqual(['2026-11-06T00:00:00Z', '2026-11-05T00:00:00Z'])
    expect([whole.lastSnapshot.userCount, whole.lastSnapshot.activeUserCount]).toEqual([null, null])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a uuid', async () => {
    expect((await get({ id: 'x' })).status).toBe(400)
    expect((await get({ orgId: 'x' })).status).toBe(400)
  })
})
