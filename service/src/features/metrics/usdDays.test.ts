import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { countNaively } from '../../../test/naiveUsdDays.js'
import { seededRandom, times } from '../../../test/seed.js'
import {
  drawHistory,
  type History,
  lengthSeconds,
  start,
  type ToldVault,
  timeOf,
} from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld, opportunities, writeHistory } from '../../../test/usdDaysWorld.js'
import { formatUnits } from '../../kernel/amount.js'

let earn: Earn
beforeAll(async () => {
  earn = await openUsdDaysWorld(drawHistory(seededRandom()))
})
afterAll(() => earn?.close())

const rounds = 16

const tsOf = (seconds: number) => new Date((start + seconds) * 1_000).toISOString().replace('.000Z', 'Z')

const ask = async (query: Record<string, string | number | boolean>, distributorId = 'acme') => {
  const range = { startDate: tsOf(0), endDate: tsOf(5_400), step: 86_400 }
  const { status, body } = await earn.call('GetDistributorMetrics', {
    ...{ params: { distributorId }, query: { ...range, includeUsdDays: true, ...query } },
  })
  expect(status).toBe(200)
  return body
}

const whole = 10n ** 6n

/** One wallet brings a million units of a share that is worth 2, in vaults of a chain that is confirmed to its end. */
function tellSimply(vault: Partial<ToldVault> = {}): History {
  const chains = [
    { chainId: 31_337, seconds: 1, head: 5_000, confirmed: 4_000 },
    { chainId: 1, seconds: 7, head: 700, confirmed: 500 },
  ]
  const inner: ToldVault = {
    ...{ name: 'inner', chainId: 31_337, assetDecimals: 6, receiptDecimals: 6, identities: [], mints: [] },
    snapshots: [{ block: 0, numerator: 2n * whole, exponent: 6, supply: whole, priceUsd: '1' }],
    readings: new Map(),
    lots: [{ block: 100, transaction: 0, wallet: 0, distributorId: 'acme', after: 86_400n * whole }],
    ...vault,
  }
  return { chains, vaults: [inner], rulesAt: -1 }
}
const lot = (block: number, after: bigint) => ({
  ...{ block, transaction: 0, wallet: 0, distributorId: 'acme', after },
})

describe('200 USD-days', () => {
  it('are what a count second by second gives, in every bucket and in all, whatever moves, fails and is withheld', async () => {
    const random = seededRandom()
    const seen = { answers: 0, points: 0, unpriced: 0, unguarded: 0, staged: 0, behind: 0, withheld: 0 }
    for (let round = 0; round < rounds * times; round++) {
      const history = drawHistory(random)
      await writeHistory(earn.db, history)
      const from = random.int(0, 2_000)
      const to = random.int(from, lengthSeconds)
      const step = random.pick([77, 300, 900, 1_800, 86_400])
      const starts: number[] = []
      for (let at = Math.floor((start + from) / step) * step; at <= start + to; at += step) starts.push(at - start)
      const bounds = [from, ...starts.slice(1), to]
      for (const distributorId of ['acme', 'beta']) {
        const counted = countNaively(history, { distributorId, from, to, bounds })
        const body = await ask({ startDate: tsOf(from), endDate: tsOf(to), step }, distributorId)
        const reached = history.chains.map((chain) => Math.max(from, Math.min(to, timeOf(chain, chain.confirmed))))
        expect(body.usdDays, `round ${round}`).toMatchObject({
          total: formatUnits(counted.total, 18),
          to: tsOf(Math.min(...reached)),
          ...{ unpricedSeconds: counted.unpriced, unguardedSeconds: counted.unguarded, isFinal: false },
        })
        expect(body.timeseries.map(({ usdDays }: { usdDays: string }) => usdDays)).toEqual(
          counted.points.map((point) => formatUnits(point, 18)),
        )
        seen.answers += 1
        seen.points += counted.points.length
        seen.unpriced += counted.unpriced
        seen.unguarded += counted.unguarded
        seen.staged += body.usdDays.staged
        seen.behind += Math.min(...reached) < to ? 1 : 0
        seen.withheld += history.vaults.some(({ identities }) => identities.some(({ agrees }) => !agrees)) ? 1 : 0
      }
    }
    console.info(`USD-days beside a count second by second: ${JSON.stringify(seen)}`)
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(5)
  })

  it('are value × days to the digit, and those of buckets are cut where these begin and end', async () => {
    // 86,400 shares worth 2 each add 2 USD-days a second, from second 100 on.
    await writeHistory(earn.db, tellSimply())
    const body = await ask({ startDate: tsOf(50), endDate: tsOf(1_000), step: 900 })
    expect(body.timeseries.map(({ usdDays }: { usdDays: string }) => usdDays)).toEqual(['1600', '200'])
    expect(body.usdDays).toMatchObject({ total: '1800', unpricedSeconds: 0, unguardedSeconds: 0, staged: 0 })
    const half = await ask({ startDate: tsOf(200).replace('Z', '.5Z'), endDate: tsOf(201) })
    expect([half.usdDays.total, half.timeseries[0].usdDays]).toEqual(['1', '1'])
    expect((await ask({ startDate: tsOf(200), endDate: tsOf(200) })).usdDays.total).toBe('0')
  })

  it('run to the newest confirmed block of each chain, though shares moved and were sold after it', async () => {
    await writeHistory(earn.db, tellSimply({ lots: [lot(100, 86_400n * whole), lot(4_100, 0n)] }))
    const { usdDays } = await ask({})
    expect(usdDays).toMatchObject({ total: '7800', to: tsOf(3_500), isFinal: false })
    const { usdDays: own } = await ask({ opportunityIds: opportunities.inner })
    expect(own).toMatchObject({ total: '7800', to: tsOf(4_000) })
    await earn.db`delete from projections where name = 'share mints' and chain_id = 31337`
    expect((await ask({})).usdDays).toMatchObject({ total: '0', to: tsOf(0) })
  })

  it('count at the price of a sale since the snapshot, and tell that its price was staged or lost', async () => {
    const mints = [{ block: 1_100, logIndex: 0, shares: whole, assets: whole }]
    await writeHistory(earn.db, tellSimply({ mints }))
    const { usdDays } = await ask({ startDate: tsOf(1_000), endDate: tsOf(1_200) })
    // A hundred seconds at 2, then at (10^6 + 1) × 10^6 / (10^6 - 1), cut: two units of the asset above 1.
    expect(usdDays).toMatchObject({ total: '300.0002', staged: 1 })
    expect((await ask({ startDate: tsOf(1_000), endDate: tsOf(1_100) })).usdDays).toMatchObject({
      ...{ total: '200', staged: 0 },
    })
  })

  it('add nothing while a vault is not what is configured, from the last reading that agreed to the next one', async () => {
    const identities = [500, 600, 700, 800].map((block) => ({ block, agrees: block === 500 || block === 800 }))
    await writeHistory(earn.db, tellSimply({ identities }))
    const of = { startDate: tsOf(400), endDate: tsOf(1_000) }
    expect((await ask(of)).usdDays).toMatchObject({ total: '600', unpricedSeconds: 300 })
    await earn.db`update vault_identities set block_timestamp = null`
    // What was stored without times goes by the snapshots around it, of which the last has no next.
    expect((await ask(of)).usdDays).toMatchObject({ total: '0', unpricedSeconds: 600 })
  })

  it('are of the opportunities asked for, 0 of a distributor that brought nothing, and of one nobody knows', async () => {
    await writeHistory(earn.db, tellSimply())
    expect((await ask({ opportunityIds: opportunities.wide })).usdDays).toMatchObject({ total: '0', to: tsOf(3_500) })
    for (const code of ['idle', 'nobody'])
      expect((await ask({}, code)).usdDays).toEqual({
        ...{ total: '0', to: tsOf(3_500), isFinal: false, unpricedSeconds: 0, unguardedSeconds: 0, staged: 0 },
      })
    expect((await ask({}, 'nobody')).timeseries).toEqual([])
    expect((await ask({}, 'idle')).timeseries).toEqual([{ timestamp: '2026-11-20T00:00:00Z', tvl: '0', usdDays: '0' }])
  })

  it('are final once every block is, every snapshot is read, and every block that is to be read was tried', async () => {
    const { db } = earn
    await writeHistory(db, tellSimply({ mints: [{ block: 300, logIndex: 0, shares: whole, assets: null }] }))
    const isFinal = async (endDate = tsOf(1_000)) =>
      (await ask({ endDate, opportunityIds: opportunities.inner })).usdDays.isFinal
    const see = (seconds: number) => db`
      insert into snapshot_progress (vault_id, seen_to) select id, ${tsOf(seconds)} from vaults
      on conflict (vault_id) do update set seen_to = excluded.seen_to`
    const tryAll = () => db`
      insert into share_reading_gaps (vault_id, block_number, block_timestamp, block_hash, reason, tried_at)
      select vault_id, block_number, block_timestamp, block_hash, '', ${tsOf(2_000)} from share_mints`
    expect(await isFinal()).toBe(false)
    await see(900)
    await tryAll()
    expect(await isFinal()).toBe(false)
    // The first instant of the grid at or after the end may have a block before it.
    await see(1_800)
    expect(await isFinal()).toBe(true)
    expect(await isFinal(tsOf(2_000))).toBe(false)
    await see(2_700)
    expect(await isFinal(tsOf(2_000))).toBe(true)
    expect(await isFinal(tsOf(2_001))).toBe(false)
    const [from, to] = [tsOf(900), tsOf(900)]
    await db`
      insert into snapshot_gaps (vault_id, from_at, to_at, opened_to, opened_at)
      select vault_id, ${from}, ${to}, ${to}, ${to} from share_mints`
    expect(await isFinal()).toBe(false)
    await db`delete from snapshot_gaps`
    expect(await isFinal()).toBe(true)
    await db`delete from share_reading_gaps`
    expect(await isFinal()).toBe(false)
  })
})
