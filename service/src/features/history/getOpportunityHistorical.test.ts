import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type HistoryWorld,
  historyAsset,
  historyChain,
  historyNow,
  iso,
  onGrid,
  openHistoryWorld,
} from '../../../test/historyWorld.js'
import { openTelling } from '../../../test/tellingDatabase.js'
import { inTransaction } from '../../postgres/pool.js'
import { snapshotObservations } from '../../snapshots/index.js'
import { getOpportunityHistorical } from './getOpportunityHistorical.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

const day = 86_400

describe('200', () => {
  it('gives the last snapshot of every bucket with its TVL, share price and APY', async () => {
    const snapshots = onGrid(40 * 24, 3_600, (index) => ({
      assets: 1_000_000_000n + BigInt(index) * 1_000n,
      price: 10n ** 18n + BigInt(index) * 10n ** 13n,
      usd: '0.9995',
    }))
    const { status, body } = await world.ask('', await world.vault({ snapshots }))
    expect(status).toBe(200)
    expect(body.baseAsset).toMatchObject({ chainId: historyChain, symbol: 'USD', decimals: 6 })
    expect(body.baseAsset.address.toLowerCase()).toBe(historyAsset)
    expect(body.historyTruncated).toBe(false)
    expect(body.data).toHaveLength(41)
    // The last hour of a day, but the last of all.
    expect(body.data[39].timestamp).toBe(iso(historyNow - 13 * 3_600).replace('.000', ''))
    expect(body.data[40]).toMatchObject({
      timestamp: iso(historyNow).replace('.000', ''),
      tvl: { native: 1000.959, usd: 1000.4585205 },
      sharePrice: { native: 1.00959, usd: 1.009085205 },
    })
    expect(body.data[40].apy.base).toBeGreaterThan(9)
    expect(body.data[40].apy.total).toBe(body.data[40].apy.base)
    expect(body.data[0].apy).toBeNull()
  })

  it('takes two statements, of which the first is prepared: the vault with the time of its chain, and its snapshots', async () => {
    const vaultAddress = await world.vault({ snapshots: onGrid(10, 3_600, () => ({})) })
    const { telling, asked } = openTelling(() => world.earn.db)
    const input = { chainId: historyChain, vaultAddress, startDate: iso(historyNow - day) }
    const { data } = await getOpportunityHistorical({ ...world.earn.ctx, db: telling as never }, input)
    expect(data).toHaveLength(1)
    expect(asked.map(({ text, name }) => [/chain_cursors/.test(text), name !== undefined])).toEqual([
      [true, true],
      [false, false],
    ])
  })

  it('shows in `apy` what the APY history serves of the same bucket', async () => {
    const snapshots = onGrid(60 * 12, 7_200, (index) => ({
      price: 10n ** 18n + BigInt((index * 7919) % 97) * 10n ** 12n,
      supply: index % 31 === 0 ? 1n : 10n ** 9n,
    }))
    const vault = await world.vault({ snapshots })
    const query = { step: 50_000, apyInterval: 400_000 }
    const [base, apy] = [await world.ask('', vault, query), await world.ask('APY', vault, query)]
    const bucketOf = ({ timestamp }: { timestamp: string }) => Math.floor(Date.parse(timestamp) / 1000 / 50_000)
    const served = new Map(apy.body.data.map((point: never) => [bucketOf(point), point['apy']]))
    expect(served.size).toBeGreaterThan(90)
    for (const point of base.body.data) expect(point.apy).toEqual(served.get(bucketOf(point)) ?? null)
  })

  it('uses only snapshots within the range, ends included, and a range may be one instant', async () => {
    const vault = await world.vault({ snapshots: onGrid(5, 900, () => ({})) })
    const ask = async (from: number, to: number) =>
      (await world.ask('', vault, { startDate: iso(historyNow + from), endDate: iso(historyNow + to), step: 3_600 }))
        .body.data.length
    expect(await ask(-900, -900)).toBe(1)
    expect(await ask(-899, -1)).toBe(0)
    expect(await ask(-900.5, -0.5)).toBe(1)
    expect(await ask(-3_600, 0)).toBe(2)
    expect(await ask(-3_600, 86_400)).toBe(2)
  })

  it('has no TVL in dollars where no price was known, and the same digits for any decimals', async () => {
    for (const [assetDecimals, receiptDecimals] of [
      [0, 0],
      [0, 36],
      [36, 0],
      [36, 36],
      [18, 6],
    ] as const) {
      // Above 2^53 a whole number is no number of the wire any more.
      const big = assetDecimals === 0 ? 123_456_789_012_345n : 123_456_789_012_345_678_901n
      const price = big * 10n ** 12n
      const one = { at: historyNow, assets: big, price, exponent: receiptDecimals + 12, usd: null }
      const { body } = await world.ask('', await world.vault({ assetDecimals, receiptDecimals, snapshots: [one] }))
      const native = Number(`${big}e-${assetDecimals}`)
      expect(body.data[0].tvl).toEqual({ native, usd: null })
      expect(body.data[0].sharePrice).toEqual({ native, usd: null })
    }
  })

  it('reads a vault that cannot answer for more than a whole share beside itself when it could', async () => {
    const snapshots = [
      { at: historyNow - 30 * day, price: 1_000_000n, exponent: 6 },
      { at: historyNow, price: 105n * 10n ** 16n, exponent: 18 },
    ]
    const { body } = await world.ask('', await world.vault({ snapshots }))
    expect(body.data[0].sharePrice.native).toBe(1)
    expect(body.data[1].sharePrice.native).toBe(1.05)
    expect(body.data[1].apy.base).toBe(81.0519216455)
  })

  it('has nothing of a vault, a chain or a past it does not know', async () => {
    const nothing = { data: [], historyTruncated: false }
    expect((await world.ask('', `0x${'dd'.repeat(20)}`)).body).toEqual(nothing)
    expect((await world.ask('', await world.vault())).body).toEqual(nothing)
    const params = { chainId: 5, vaultAddress: await world.vault() }
    const query = { startDate: iso(historyNow) }
    expect((await world.earn.call('GetOpportunityHistorical', { params, query })).body).toEqual(nothing)
  })

  it('shows TVL and share prices of a vault that is empty, late, paused or of a kind without rates', async () => {
    const snapshots = onGrid(40, day, () => ({}))
    const empty = await world.vault({ snapshots: onGrid(40, day, () => ({ supply: 0n })) })
    const late = await world.vault({ snapshots: snapshots.slice(0, -1) })
    const paused = await world.vault({ snapshots })
    await world.pause(paused, historyNow - 1)
    const other = await world.vault({ kind: 'other', snapshots })
    for (const vault of [empty, late, paused, other]) {
      const { status, body } = await world.ask('', vault)
      expect(status).toBe(200)
      expect(body.data.length).toBeGreaterThan(38)
      for (const point of body.data)
        expect([point.tvl.native, point.sharePrice.native, point.apy]).toEqual([1000, 1, null])
    }
  })

  it('forgets what a reorganisation took back, and keeps every other point to the digit', async () => {
    const snapshots = onGrid(40, day, (index) => ({
      price: 10n ** 18n + BigInt(index) * 10n ** 14n,
      block: 100 + index,
    }))
    const vault = await world.vault({ snapshots })
    const before = (await world.ask('', vault)).body.data
    const orphaned = { chainId: historyChain, number: 137, tip: 139 }
    await inTransaction(world.earn.db, (tx) => snapshotObservations.rewind(tx, orphaned))
    const after = (await world.ask('', vault)).body.data
    expect(after).toEqual(before.slice(0, -2).map((point: object) => ({ ...point, apy: null })))
    await world.snapshots(vault, [{ ...snapshots[38]!, price: 2n * 10n ** 18n }, snapshots[39]!])
    const again = (await world.ask('', vault)).body.data
    expect(again.slice(0, 38)).toEqual(before.slice(0, 38))
    expect(again[38].sharePrice.native).toBe(2)
    expect(again[39]).toEqual(before[39])
  })

  it('leaves readings of a past pause out of rates', async () => {
    const vault = await world.vault({
      snapshots: onGrid(70, day, (index) => ({ price: index > 20 && index < 30 ? 5n * 10n ** 18n : 10n ** 18n })),
    })
    await world.pause(vault, historyNow - 49 * day, historyNow - 39 * day)
    const { body } = await world.ask('APR', vault)
    expect(body.data.map(({ apr }: { apr: { base: number } }) => apr.base)).toEqual(Array(body.data.length).fill(0))
    expect(body.data.length).toBe(40)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a start after the end, and a step of 0', async () => {
    const vault = await world.vault()
    const endDate = iso(historyNow - day)
    expect((await world.ask('', vault, { startDate: iso(historyNow), endDate })).status).toBe(400)
    expect((await world.ask('', vault, { step: 0 })).status).toBe(400)
  })
})
