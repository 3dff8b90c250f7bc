import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runMovements } from '../src/features/history/index.js'
import { newId } from '../src/kernel/ids.js'
import type { Database } from '../src/postgres/pool.js'
import type { Earn } from './harness.js'
import { type HistoryWorld, historyChain, historyNow, iso, onGrid, openHistoryWorld } from './historyWorld.js'
import { chainId, observe, openMetricsWorld, opportunities, vaults } from './metricsWorld.js'

const [minute, hour, day] = [60, 3_600, 86_400]
let world: HistoryWorld
let earn: Earn
beforeAll(async () => {
  world = await openHistoryWorld()
  earn = await openMetricsWorld()
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

/** The newest confirmed block of a chain is so many seconds above the wall clock; its head is a block further. */
async function setAhead(db: Database, id: number, seconds: number, clock: 'wall' | 'chain' = 'wall'): Promise<void> {
  const at = historyNow + seconds
  await db`update chains set clock = ${clock}, confirmations = 2 where chain_id = ${id}`
  await db`delete from blocks where chain_id = ${id}`
  await db`
    insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
    select ${id}, n, to_timestamp(${at}::bigint + (n - 99) * 600), hex_bytes('0x01'), hex_bytes('0x00'), false
    from unnest('{99,100}'::bigint[]) n`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, updated_at)
    values (${id}, 0, 100, '', ${iso(at + 600)}, 100, ${iso(historyNow)})
    on conflict (chain_id) do update set block_number = 100, head_number = 100, finalized_number = null,
      block_timestamp = excluded.block_timestamp, updated_at = excluded.updated_at`
}

/** Seconds that a chain is above the wall clock, how it keeps time, and by how many now is later than that clock. */
const cases: [ahead: number, clock: 'wall' | 'chain', later: number][] = [
  [-2 * hour, 'wall', 0],
  [-2 * hour, 'chain', 0],
  [45 * minute, 'wall', 45 * minute],
  [3 * hour, 'wall', hour],
  [3 * day, 'chain', 3 * day],
]

describe('now of a vault, where its newest confirmed block is %s s above the wall clock', () => {
  const names = ['', 'TVL', 'SharePrice', 'APR', 'APY']
  let address: string
  beforeAll(async () => {
    // One a quarter of an hour, to long after now.
    const snapshots = onGrid(40 * 96, 900, () => ({})).map((one) => ({ ...one, at: one.at + 4 * day }))
    address = await world.vault({ snapshots })
  })

  it.each(cases)(
    '%s s, clock: %s: an absent end, one in the future and the open bucket are that of now',
    async (...of) => {
      const [ahead, clock, later] = of
      await setAhead(world.earn.db, historyChain, ahead, clock)
      const now = historyNow + later
      for (const name of names) {
        const ask = (query: Record<string, string | number>) =>
          world.ask(name, address, { startDate: iso(now - hour), step: 900, ...query })
        const open = await ask({})
        expect(open.body.data?.at(-1)?.timestamp, name).toBe(iso(now).replace('.000', ''))
        expect((await ask({ endDate: iso(now + 30 * day) })).body).toEqual(open.body)
      }
    },
  )

  it.each(cases)(
    '%s s, clock: %s: a start may be a minute above it, and 365 days and a minute below',
    async (...of) => {
      const [ahead, clock, later] = of
      await setAhead(world.earn.db, historyChain, ahead, clock)
      await setAhead(earn.db, chainId, ahead, clock)
      const now = historyNow + later
      const starts = [now + minute, now + minute + 1, now - 365 * day - minute, now - 365 * day - minute - 1]
      const statusOf = (name: string, startDate: string) =>
        name === 'LPs'
          ? earn.call('GetOpportunityHistoricalLPs', {
              params: { chainId, vaultAddress: vaults[0] },
              query: { startDate, endDate: '2030-01-01T00:00:00Z', step: day },
            })
          : world.ask(name, address, { startDate })
      for (const name of [...names, 'LPs']) {
        const answers = await Promise.all(starts.map((start) => statusOf(name, iso(start))))
        expect(
          answers.map(({ status }) => status),
          name,
        ).toEqual([200, 400, 200, 400])
      }
    },
  )

  it('decides whether a vault is late: each by its own chain', async () => {
    const late = await world.vault({ snapshots: onGrid(8, 900, () => ({})) })
    const statusOf = async () => [
      (await world.ask('APR', late, { startDate: iso(historyNow - hour) })).status,
      (await world.ask('', late, { startDate: iso(historyNow - hour) })).body.data.at(-1)?.apy,
    ]
    await setAhead(world.earn.db, historyChain, 45 * minute)
    expect((await statusOf())[0]).toBe(200)
    await setAhead(world.earn.db, historyChain, day, 'chain')
    expect(await statusOf()).toEqual([503, null])
    await setAhead(world.earn.db, historyChain, -day, 'chain')
    expect((await statusOf())[0]).toBe(200)
  })

  it('is what movements are counted from', async () => {
    const { db, ctx } = world.earn
    const id = newId()
    const snapshots = onGrid(40, day, (index) => ({ assets: 1_000_000_000n + BigInt(index ** 2) * 1_000_000n }))
    const moved = await world.vault({
      snapshots: snapshots.map((one) => ({ ...one, at: one.at + 3 * day })),
      interval: day,
    })
    await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${id}, ${moved}, ${moved}, 'vault', ${historyChain}, ${moved})`
    await db`update catalogue_versions set version = version + 1`
    await ctx.catalogue.refresh()
    const show = async () => {
      await runMovements(ctx)
      await ctx.catalogue.refresh()
      return (await world.earn.call('GetOpportunity', { params: { id }, query: { includeDeltas: true } })).body.deltas
        .tvl
    }
    const tvl = (index: number) => 1_000 + index ** 2
    await setAhead(db, historyChain, 0)
    expect(await show()).toMatchObject({ current: tvl(36), d1: tvl(36) - tvl(35), d7: tvl(36) - tvl(29) })
    await setAhead(db, historyChain, 3 * day, 'chain')
    expect(await show()).toMatchObject({ current: tvl(39), d1: tvl(39) - tvl(38), d7: tvl(39) - tvl(32) })
  })
})

describe('now of a distributor’s series', () => {
  const askOf = (name: string, query: Record<string, string | boolean> = {}, distributorId = 'acme') =>
    earn.call(name, {
      params: { distributorId },
      query: { startDate: iso(historyNow - hour), endDate: '2030-01-01T00:00:00Z', ...query },
    })
  const lastOf = async (...of: Parameters<typeof askOf>) => (await askOf(...of)).body.timeseries.at(-1)
  const bucketOf = (later: number) => iso(historyNow + later).replace('.000', '')
  beforeEach(() => setAhead(earn.db, chainId, 3 * day, 'chain'))

  it('is the latest of the chains of its vaults, in each series', async () => {
    await observe(earn.db, { vault: 1, time: '14:00', sharePrice: 4, priceUsd: 10 })
    for (const [ahead, clock, later] of cases) {
      await setAhead(earn.db, chainId, ahead, clock)
      for (const name of ['GetDistributorMetrics', 'GetDistributorLPs']) {
        expect((await lastOf(name)).timestamp, `${name} ${ahead}`).toBe(bucketOf(later))
      }
    }
    // 5 shares, and 11 dollars of the first vault: the newest of the two prices is of two hours after the wall clock.
    expect((await lastOf('GetDistributorMetrics')).tvl).toBe('211')
  })

  it('is the wall clock where no vault is selected', async () => {
    expect((await lastOf('GetDistributorMetrics', {}, 'idle')).timestamp).toBe(bucketOf(0))
    const other = { opportunityIds: newId() }
    expect((await lastOf('GetDistributorMetrics', other)).timestamp).toBe(bucketOf(0))
    expect((await lastOf('GetDistributorMetrics', { opportunityIds: opportunities[0] })).timestamp).toBe(
      bucketOf(3 * day),
    )
  })

  it('refuses a start more than a minute above it', async () => {
    const statusOf = async (seconds: number) =>
      (await askOf('GetDistributorMetrics', { startDate: iso(historyNow + seconds) })).status
    expect([await statusOf(3 * day + minute), await statusOf(3 * day + minute + 1)]).toEqual([200, 400])
  })
})
