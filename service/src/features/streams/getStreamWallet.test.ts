import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

const [cat, dog] = ['ca', 'd0'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
let world: StreamWorld
let id: string
beforeAll(async () => {
  world = await openStreamWorld()
  id = await world.stream()
  await world.snapshot(id, '2026-11-05T00:00:00Z', { [cat]: 50n })
  await world.snapshot(id, '2026-11-06T00:00:00Z', { [cat]: 55n })
})
afterAll(() => world.close())

const get = (address: string, stream = id) => world.earn.call('GetStreamWallet', { params: { id: stream, address } })

describe('200', () => {
  it('shows what a wallet has earned, newest first, and the stream', async () => {
    const { wallet } = (await get(cat)).body
    const earned = wallet.snapshots.map(({ rewardsAccumulated }: Record<string, string>) => rewardsAccumulated)
    expect(earned).toEqual(['55', '50'])
    expect([wallet.streamId, wallet.userAddress.toLowerCase(), wallet.stream.id]).toEqual([id, cat, id])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants an address', async () => {
    expect((await get('0x12')).status).toBe(400)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no wallet without a snapshot, and no unknown stream', async () => {
    expect((await get(dog)).status).toBe(404)
    expect((await get(cat, '01890a5d-ac96-774b-bcce-b302099a8057')).status).toBe(404)
  })
})
