import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HistoryWorld, historyNow, iso, onGrid, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

const day = 86_400
const bases = (body: { data: { apy: { base: number } }[] }) => body.data.map(({ apy }) => apy.base)
/** Five per cent more after thirty days, in a base asset that lost four. */
const snapshots = onGrid(2, 30 * day, (index) => ({
  price: 10n ** 18n + BigInt(index) * 5n * 10n ** 16n,
  usd: ['1', '0.96'][index] ?? null,
}))

describe('200', () => {
  it('is the compound growth of the share price where nothing else is said', async () => {
    const { body } = await world.ask('APY', await world.vault({ snapshots }))
    expect(bases(body)).toEqual([81.0519216455])
    expect(body.method).toEqual({ id: 'growth-compound', version: '1', source: 'share-price' })
  })

  it('gives the two readings of a point where they are asked for, and only there', async () => {
    const vault = await world.vault({ snapshots })
    const { body } = await world.ask('APY', vault, { includeInputs: true })
    const { inputs } = body.data[0]
    expect([inputs.from.sharePrice, inputs.to.sharePrice]).toEqual(['1', '1.05'])
    expect(inputs.from.blockHash).toMatch(/^0x[0-9a-f]{64}$/)
    expect((await world.ask('APR', vault, { includeInputs: true })).body.data[0].inputs).toEqual(inputs)
    for (const query of [{}, { includeInputs: false }])
      expect((await world.ask('APY', vault, query)).body.data[0].inputs).toBeUndefined()
  })

  it('is the growth of a share in US dollars where the vault is measured by nav, negative too', async () => {
    const vault = await world.vault({ snapshots, growthSources: [{ source: 'nav' }] })
    const { body } = await world.ask('APY', vault)
    // 1.05 × 0.96 = 1.008 within thirty days.
    expect(bases(body)).toEqual([10.1800945354])
    expect(body.method.source).toBe('nav')
    expect((await world.ask('APR', vault)).body.method.source).toBe('share-price')
    const fallen = onGrid(2, 30 * day, (index) => ({ ...snapshots[index], usd: ['1', '0.9'][index] ?? null }))
    const lost = await world.vault({ snapshots: fallen, growthSources: [{ source: 'nav' }] })
    expect(bases((await world.ask('APY', lost)).body)[0]).toBeLessThan(-49)
  })

  it('has no point by nav where a price is missing, and goes on where there are some again', async () => {
    const part = onGrid(70, day, (index) => ({ usd: index > 35 && index < 50 ? null : '1' }))
    const { body } = await world.ask('APY', await world.vault({ snapshots: part, growthSources: [{ source: 'nav' }] }))
    const seconds = body.data.map((point: { timestamp: string }) => Date.parse(point.timestamp) / 1000)
    const missing = part.filter(({ usd }) => usd === null).map(({ at }) => at)
    expect(body.data).toHaveLength(40 - 14)
    expect(missing.some((at) => seconds.includes(at))).toBe(false)
    // The readings of the gap are no start of growth either.
    expect(Math.max(...body.data.map((point: never) => point['effectiveIntervalSeconds']))).toBe(34 * day)
  })

  it('serves a source from when it is in force, and one that was replaced by another at that instant', async () => {
    const from = iso(historyNow - 10 * day)
    const grid = onGrid(60, day, () => ({}))
    const changed = await world.vault({
      snapshots: grid,
      growthSources: [
        { source: 'share-price', activeTo: from },
        { source: 'nav', activeFrom: from },
      ],
    })
    const now = await world.ask('APY', changed)
    expect([now.body.method.source, now.body.data.length]).toEqual(['nav', 11])
    const before = await world.ask('APY', changed, { endDate: iso(historyNow - 10 * day - 1) })
    expect([before.body.method.source, before.body.data.length]).toEqual(['share-price', 19])
  })

  it('counts apyInterval apart from the step', async () => {
    const grid = onGrid(100, 3_600, (index) => ({ price: 10n ** 18n + BigInt(index) * 10n ** 14n }))
    const { body } = await world.ask('APY', await world.vault({ snapshots: grid }), {
      startDate: iso(historyNow - 2 * day),
      step: 7_200,
      apyInterval: 5_000,
    })
    expect(body.data).toHaveLength(25)
    for (const point of body.data) expect(point.effectiveIntervalSeconds).toBe(7_200)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a range of more than 10,000 buckets', async () => {
    const { status } = await world.ask('APY', await world.vault(), { step: 1 })
    expect(status).toBe(400)
  })
})

describe('412 FAILED_PRECONDITION', () => {
  it('is said where two sources are in force at an instant of the range; APR and base are served', async () => {
    const vault = await world.vault({
      snapshots,
      growthSources: [{ source: 'share-price' }, { source: 'nav', activeFrom: iso(historyNow - 5 * day) }],
    })
    const { status, body, headers } = await world.ask('APY', vault)
    expect([status, body.status, body.reason, headers['retry-after']]).toEqual([
      412,
      'FAILED_PRECONDITION',
      undefined,
      undefined,
    ])
    expect((await world.ask('APR', vault)).status).toBe(200)
    const base = await world.ask('', vault)
    expect([base.status, base.body.data.at(-1).apy]).toEqual([200, null])
    expect((await world.ask('APY', vault, { endDate: iso(historyNow - 6 * day) })).status).toBe(200)
  })
})

describe('503 UNAVAILABLE', () => {
  const expectWithheld = async (vault: string, reason: string) => {
    const answer = await world.ask('APY', vault)
    expect([answer.status, answer.body.reason]).toEqual([503, reason])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(30)
  }

  it('INDEXING_NOT_STARTED of a vault we do not know, of a kind that is only listed, and without a snapshot', async () => {
    await expectWithheld(`0x${'dd'.repeat(20)}`, 'INDEXING_NOT_STARTED')
    await expectWithheld(await world.vault({ kind: 'other', snapshots }), 'INDEXING_NOT_STARTED')
    await expectWithheld(await world.vault(), 'INDEXING_NOT_STARTED')
  })

  it('INDEXING_NOT_STARTED where no source is set, or none is in force yet', async () => {
    await expectWithheld(await world.vault({ snapshots, growthSources: [] }), 'INDEXING_NOT_STARTED')
    const later = [{ source: 'nav', activeFrom: iso(historyNow + 1) }] as const
    await expectWithheld(await world.vault({ snapshots, growthSources: later }), 'INDEXING_NOT_STARTED')
  })

  it('INDEXING_STALLED of a paused vault and of one that is late', async () => {
    const paused = await world.vault({ snapshots })
    await world.pause(paused, historyNow - 1)
    await expectWithheld(paused, 'INDEXING_STALLED')
    await expectWithheld(await world.vault({ snapshots: [{ at: historyNow - 5_000 }] }), 'INDEXING_STALLED')
  })
})
