import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HistoryWorld, historyNow, onGrid, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

describe('200', () => {
  it('shows the TVL of the base history, and its base asset', async () => {
    const snapshots = onGrid(90, 43_200, (index) => ({ assets: BigInt(index) ** 9n, usd: index % 5 ? '3.5' : null }))
    const vault = await world.vault({ snapshots })
    const [base, own] = [await world.ask('', vault), await world.ask('TVL', vault)]
    expect(own.body.baseAsset).toEqual(base.body.baseAsset)
    const part = ({ timestamp, blockNumber, tvl }: Record<string, unknown>) => ({ timestamp, blockNumber, tvl })
    expect(own.body.data).toEqual(base.body.data.map(part))
    expect(own.body.data).toHaveLength(45)
  })

  it('is never withheld', async () => {
    const paused = await world.vault({ growthSources: [], snapshots: [{ at: historyNow - 9_000, supply: 0n }] })
    await world.pause(paused, historyNow - 1)
    expect((await world.ask('TVL', paused)).body.data).toHaveLength(1)
    expect((await world.ask('TVL', `0x${'dd'.repeat(20)}`)).body).toEqual({ data: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a step of 0', async () => {
    expect((await world.ask('TVL', await world.vault(), { step: 0 })).status).toBe(400)
  })
})
