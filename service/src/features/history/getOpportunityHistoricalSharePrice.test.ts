import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HistoryWorld, historyNow, onGrid, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

describe('200', () => {
  it('shows the share prices of the base history, and its base asset', async () => {
    const snapshots = onGrid(90, 43_200, (index) => ({ price: 10n ** 18n + BigInt(index ** 3) * 10n ** 9n, usd: '3' }))
    const vault = await world.vault({ snapshots })
    const [base, own] = [await world.ask('', vault), await world.ask('SharePrice', vault)]
    expect(own.body.baseAsset).toEqual(base.body.baseAsset)
    const part = ({ timestamp, blockNumber, sharePrice }: Record<string, unknown>) => ({
      timestamp,
      blockNumber,
      sharePrice,
    })
    expect(own.body.data).toEqual(base.body.data.map(part))
    expect(own.body.data).toHaveLength(45)
  })

  it('has nothing of a vault we do not know', async () => {
    expect((await world.ask('SharePrice', `0x${'dd'.repeat(20)}`)).body).toEqual({ data: [] })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a step of 0', async () => {
    expect((await world.ask('SharePrice', await world.vault(), { step: 0 })).status).toBe(400)
  })
})

describe('404 PROTOCOL_UNSUPPORTED and 503 UNAVAILABLE', () => {
  it('are said where APR says them', async () => {
    const fresh = [{ at: historyNow }]
    const paused = await world.vault({ snapshots: fresh })
    await world.pause(paused, historyNow - 1)
    for (const vault of [
      await world.vault({ kind: 'other', snapshots: fresh }),
      await world.vault(),
      await world.vault({ growthSources: [], snapshots: fresh }),
      await world.vault({ snapshots: [{ at: historyNow - 9_000 }] }),
      await world.vault({ snapshots: [{ at: historyNow, supply: 3n }] }),
      paused,
    ]) {
      const [own, apr] = [await world.ask('SharePrice', vault), await world.ask('APR', vault)]
      expect([404, 503]).toContain(own.status)
      expect(own.body).toEqual(apr.body)
      expect(own.headers['retry-after']).toBe(apr.headers['retry-after'])
    }
  })
})
