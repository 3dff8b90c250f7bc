import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'

const cat = `0x${'ca'.repeat(20)}`
let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

describe('200', () => {
  it('lists the streams a wallet has a snapshot in, with the latest of each or all of them', async () => {
    const [first, second] = [await world.stream(), await world.stream()]
    await world.stream()
    await world.snapshot(first, '2026-11-05T00:00:00Z', { [cat]: 50n })
    await world.snapshot(first, '2026-11-06T00:00:00Z', { [cat]: 55n })
    await world.snapshot(second, '2026-11-06T00:00:00Z', { [cat]: 1n })
    const get = async (query: Record<string, boolean>) => {
      const { body } = await world.earn.call('GetStreamsForWallet', { params: { address: cat }, query })
      const shown = body.streams.map(({ streamId, snapshots }: { streamId: string; snapshots: object[] }) => [
        streamId,
        snapshots.map((each) => (each as { rewardsAccumulated: string }).rewardsAccumulated),
      ])
      return Object.fromEntries(shown)
    }
    expect(await get({})).toEqual({ [first]: ['55'], [second]: ['1'] })
    expect(await get({ withSnapshots: true })).toEqual({ [first]: ['55', '50'], [second]: ['1'] })
    const nobody = await world.earn.call('GetStreamsForWallet', { params: { address: `0x${'77'.repeat(20)}` } })
    expect(nobody.body).toEqual({ streams: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants an address', async () => {
    expect((await world.earn.call('GetStreamsForWallet', { params: { address: 'x' } })).status).toBe(400)
  })
})
