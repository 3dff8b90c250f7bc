import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type HistoryWorld,
  historyChain,
  historyNow,
  onGrid,
  openHistoryWorld,
  type TestVault,
} from '../../../test/historyWorld.js'
import { newId } from '../../kernel/ids.js'
import { runMovements } from './index.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

const day = 86_400

/** A vault that is offered, with a yield incentive; answers its address. */
async function offered(vault: TestVault, incentive: { indexed: boolean; rewardType?: string } = { indexed: true }) {
  const { db, ctx } = world.earn
  const address = await world.vault(vault)
  const id = newId()
  await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
    values (${id}, ${address}, ${address}, 'vault', ${historyChain}, ${address})`
  await db`insert into incentives (id, opportunity_id, name, reward_type, apr, indexed)
    values (${newId()}, ${id}, 'Yield', ${incentive.rewardType ?? 'yield'}, 7.5, ${incentive.indexed})`
  await db`update catalogue_versions set version = version + 1`
  await ctx.catalogue.refresh()
  return { address, id }
}

async function show(id: string) {
  await runMovements(world.earn.ctx)
  await world.earn.ctx.catalogue.refresh()
  const { body } = await world.earn.call('GetOpportunity', { params: { id }, query: { includeDeltas: true } })
  return body
}

describe('movements', () => {
  it('are what TVL and APY are now, less what they were at or before the instant one, seven and thirty days ago', async () => {
    const snapshots = onGrid(100 * 4, day / 4, (index) => ({
      assets: 1_000_000_000n + BigInt(index) * 1_000_000n,
      price: 10n ** 18n + BigInt(index * index) * 10n ** 12n,
      usd: '0.5',
    }))
    const { id, address } = await offered({ snapshots })
    const { deltas, estimatedApr, incentives } = await show(id)
    // A thousand and one more each quarter of a day, at half a dollar.
    expect(deltas.tvl).toEqual({ current: 699.5, d1: 2, d7: 14, d30: 60 })
    const { body } = await world.ask('APY', address, { step: day / 4 })
    const apy = body.data.map((point: { apy: { base: number } }) => point.apy.base)
    const now = apy.at(-1)
    expect(deltas.apy.current).toBe(now)
    expect([deltas.apy.d1, deltas.apy.d7, deltas.apy.d30]).toEqual(
      [1, 7, 30].map((days) => Number((now - apy.at(-1 - days * 4)).toPrecision(12))),
    )
    expect(deltas.lps).toEqual({ current: null, d1: null, d7: null, d30: null })
    const apr = (await world.ask('APR', address, { step: day / 4 })).body.data.at(-1).apr.base
    expect([estimatedApr, incentives[0].apr]).toEqual([apr, apr])
  })

  it('are null where that much history or a price is missing, and for APY while it is withheld', async () => {
    const young = await offered({ snapshots: onGrid(5, day, () => ({})) })
    expect((await show(young.id)).deltas).toMatchObject({
      tvl: { current: 1000, d1: 0, d7: null, d30: null },
      apy: { current: null, d1: null, d7: null, d30: null },
    })
    const unpriced = await offered({ snapshots: onGrid(70, day, (index) => ({ usd: index > 60 ? null : '1' })) })
    expect((await show(unpriced.id)).deltas.tvl).toEqual({ current: null, d1: null, d7: null, d30: null })
    const late = await offered({ snapshots: onGrid(70, day, () => ({})).slice(0, -1) })
    const shown = await show(late.id)
    expect(shown.deltas).toMatchObject({ tvl: { current: 1000, d1: 0 }, apy: { current: null, d30: null } })
    expect([shown.estimatedApr, shown.incentives[0].apr]).toEqual([0, null])
  })

  it('measure a vault by nav where that is its source, while its indexed yield stays that of the share price', async () => {
    const snapshots = onGrid(70, day, (index) => ({ usd: index === 69 ? '1.1' : index % 7 === 3 ? null : '1' }))
    const { id, address } = await offered({ snapshots, growthSources: [{ source: 'nav' }] })
    const { deltas, estimatedApr } = await show(id)
    expect(deltas.apy.current).toBe((await world.ask('APY', address)).body.data.at(-1).apy.base)
    expect(deltas.apy.current).toBeGreaterThan(200)
    expect(deltas.apy.d1).toBe(deltas.apy.current)
    expect(estimatedApr).toBe(0)
  })

  it('leave an incentive that is not indexed, or no yield, as the file says', async () => {
    const snapshots = onGrid(70, day, () => ({}))
    expect((await show((await offered({ snapshots }, { indexed: false })).id)).estimatedApr).toBe(7.5)
    expect((await show((await offered({ snapshots }, { indexed: true, rewardType: 'points' })).id)).estimatedApr).toBe(
      7.5,
    )
  })

  it('sort the list in all nine ways, and the list by APR and its filters follow what is indexed', async () => {
    await world.earn.ctx.catalogue.refresh()
    await show(
      (await offered({ snapshots: onGrid(70, day, (index) => ({ price: 10n ** 18n + BigInt(index) * 10n ** 15n })) }))
        .id,
    )
    for (const [sortBy, member, movement] of ['tvl', 'apy'].flatMap((member) =>
      ['d1', 'd7', 'd30'].map(
        (movement) =>
          [`${member === 'apy' ? 'growthApy' : member}${movement.toUpperCase()}`, member, movement] as const,
      ),
    )) {
      const { body } = await world.earn.call('ListOpportunities', {
        query: { sortBy, includeDeltas: true, limit: 100 },
      })
      const values = body.data.map(
        (item: { deltas: Record<string, Record<string, number | null>> }) => item.deltas[member]?.[movement],
      )
      const known = values.filter((value: number | null) => value !== null)
      expect(known.length, sortBy).toBeGreaterThan(1)
      expect(values, sortBy).toEqual([
        ...known.sort((a: number, b: number) => b - a),
        ...values.filter((v: unknown) => v === null),
      ])
    }
    const { body } = await world.earn.call('ListOpportunities', { query: { sortBy: 'apr', minApr: 0.5 } })
    const aprs = body.data.map(({ estimatedApr }: { estimatedApr: number }) => estimatedApr)
    expect(aprs.length).toBeGreaterThan(2)
    expect(aprs).toEqual([...aprs].sort((a, b) => b - a))
    expect(Math.min(...aprs)).toBeGreaterThanOrEqual(0.5)
  })

  it('are pushed again only where they have changed', async () => {
    const version = async () => (await world.earn.db`select live_version as v from catalogue_versions`)[0]?.['v']
    await show((await offered({ snapshots: [{ at: historyNow }] })).id)
    const before = await version()
    await runMovements(world.earn.ctx)
    expect(await version()).toBe(before)
  })
})
