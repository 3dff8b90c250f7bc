import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

const [cat, dog, fox] = ['ca', 'd0', 'f0'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
let world: StreamWorld
let id: string
beforeAll(async () => {
  world = await openStreamWorld()
  id = await world.stream()
  await world.snapshot(id, '2026-11-05T00:00:00Z', { [cat]: 50n })
  await world.snapshot(id, '2026-11-06T00:00:00Z', { [cat]: 50n, [dog]: 70n, [fox]: 60n })
})
afterAll(() => world.close())

describe('200', () => {
  it('lists the wallets of the newest snapshot, the highest rewards first', async () => {
    const { body } = await world.earn.call('GetStreamWallets', { params: { id }, query: { limit: 2 } })
    expect(body.data.map(({ userAddress }: { userAddress: string }) => userAddress.toLowerCase())).toEqual([dog, fox])
    expect(body.data[0].lastSnapshot).toMatchObject({ timestamp: '2026-11-06T00:00:00Z', rewardsAccumulated: '70' })
    expect(body.pagination).toMatchObject({ total: 3, totalPages: 2, hasNext: true })
  })

  it('is empty before the first snapshot', async () => {
    const { body } = await world.earn.call('GetStreamWallets', { params: { id: await world.stream() } })
    expect([body.data, body.pagination.total]).toEqual([[], 0])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants a uuid', async () => {
    expect((await world.earn.call('GetStreamWallets', { params: { id: 'x' } })).status).toBe(400)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no stream whose creation is not confirmed', async () => {
    const unsent = await world.stream({ createdBlock: null })
    expect((await world.earn.call('GetStreamWallets', { params: { id: unsent } })).status).toBe(404)
  })
})
