import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import { fillSnapshotPrices, recordSnapshots } from '../snapshots/store.js'
import { fetchProvidedPast, findPrice, listSuspects, recordObservation } from './index.js'
import { openProvider, type PriceProvider } from './providers.js'

const chainId = 1
const hour = 3_600
const now = Date.UTC(2026, 10, 20, 12) / 1_000
const tokenOf = (id: string) => ({ chainId, address: `0x${id.charCodeAt(0).toString(16).repeat(20)}` })

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.db`truncate tokens, vaults, vault_snapshots, price_observations, price_histories cascade`
  asked.length = 0
  refused.clear()
})

const asked: { ids: readonly string[]; from: number; to: number }[] = []
const refused = new Set<string>()
/** Tells a price every hour, an hour's number in the third digit; a jump where `price` says so. */
const providerOf = (price = (at: number): string => `1.00${(at / hour) % 10}`): PriceProvider => ({
  ...{ name: 'test', batchMax: 9, fetchPrices: async () => [] },
  past: {
    ...{ batchMax: 2, windowSeconds: 10 * hour, reachSeconds: 25 * hour },
    fetch: async (ids, range) => {
      asked.push({ ids, ...range })
      if (ids.some((id) => refused.has(id))) throw new OutboundError('client', 'prices.example answered 404')
      const first = Math.ceil(range.from / hour) * hour
      const hours = Array.from({ length: 12 }, (_, index) => first + index * hour)
      return ids.flatMap((priceId) => hours.map((atSeconds) => ({ priceId, atSeconds, priceUsd: price(atSeconds) })))
    },
  },
})

async function list(...ids: string[]) {
  for (const id of ids)
    await test.db`
      insert into tokens (chain_id, address, decimals, symbol, name, price_id)
      values (${chainId}, ${tokenOf(id).address}, 6, ${id}, ${id}, ${id})`
}

/** One run of the job at an hour from now. */
function run(hoursLater = 0, { requests = 10, provider = providerOf(), pastDays = 400 } = {}) {
  const clock = { ...systemClock, now: () => new Date((now + hoursLater * hour) * 1_000) }
  return fetchProvidedPast({ db: test.db, clock, log: silentLog }, provider, {
    pastSeconds: pastDays * 86_400,
    requests,
  })
}

const priceAt = async (hoursAgo: number, id = 'a') =>
  (await findPrice(test.db, tokenOf(id), new Date((now - hoursAgo * hour) * 1_000)))?.priceUsd

describe('what prices over HTTP were', () => {
  it('is read window by window, oldest first, in batches, as far back as it is told, and is over then', async () => {
    await list('a', 'b', 'c')
    expect([await run(), await run(), await run(), await run()]).toEqual([true, true, true, false])
    expect(asked.map(({ ids, from, to }) => [ids.join(), (now - from) / hour, (now - to) / hour])).toEqual([
      ...['a,b', 'c'].map((ids) => [ids, 25, 15]),
      ...['a,b', 'c'].map((ids) => [ids, 15, 5]),
      ...['a,b', 'c'].map((ids) => [ids, 5, 0]),
    ])
    for (const id of ['a', 'b', 'c'])
      for (const hoursAgo of [25, 20, 15, 5, 1, 0])
        expect(await priceAt(hoursAgo, id)).toBe(`1.00${(now / hour - hoursAgo) % 10}`)
    expect(await priceAt(26)).toBeUndefined()
  })

  it.each([
    ['coingecko', 'a year', 364, /[?&]from=([0-9]+)&/],
    ['defillama', 'four hundred days', 400, /[?&]start=([0-9]+)&/],
  ] as const)('is asked of %s for prices up to %s old', async (kind, _name, days, first) => {
    await list('a')
    const urls: string[] = []
    const outbound = {
      fetchText: async ({ url }: { url: string }) => {
        urls.push(url)
        return JSON.stringify({ coins: {}, prices: [] })
      },
    }
    const provider = openProvider(outbound, { kind, url: 'https://prices.example', key: undefined })
    await run(0, { provider, requests: 1, pastDays: 1_000 })
    expect(urls.map((url) => (now - Number(first.exec(url)?.[1])) / (24 * hour))).toEqual([days])
  })

  it('goes on where it was cut off, and is read again where nobody asked for a day', async () => {
    await list('a', 'b', 'c')
    await run(0, { requests: 1 })
    expect(await test.db`select address from price_histories`).toHaveLength(2)
    for (let turn = 0; turn < 6; turn++) await run(0, { requests: 1 })
    expect(await run(23)).toBe(false)
    asked.length = 0
    expect(await run(24)).toBe(true)
    expect(asked.map(({ ids, from, to }) => [ids.join(), (from - now) / hour, (to - now) / hour])).toEqual([
      ['a,b', 0, 10],
      ['c', 0, 10],
    ])
  })

  it('that is refused holds up nothing else, and is asked for again', async () => {
    await list('a', 'b', 'c')
    refused.add('a')
    for (let turn = 0; turn < 5; turn++) await run()
    // What was asked for together with it is asked for alone.
    expect([await priceAt(0, 'a'), await priceAt(0, 'c')]).toEqual([undefined, `1.00${(now / hour) % 10}`])
    refused.clear()
    for (let turn = 0; turn < 12; turn++) await run(turn / 60)
    for (const id of ['a', 'b']) expect(await priceAt(0, id), id).toBe(`1.00${(now / hour) % 10}`)
    expect(await test.db`select problem from price_histories where problem is not null`).toEqual([])
  })

  it('that jumps is suspect until another agrees', async () => {
    await list('a')
    const provider = providerOf((at) => (now - at === 18 * hour ? '9' : now - at <= 3 * hour ? '2' : '1'))
    for (let turn = 0; turn < 3; turn++) await run(0, { provider })
    expect([await priceAt(19), await priceAt(18), await priceAt(4), await priceAt(3), await priceAt(0)]).toEqual([
      ...['1', '1', '1', '2', '2'],
    ])
    expect(await listSuspects(test.db)).toEqual([])
  })

  it('fills the dollars of snapshots that have none, and changes no number', async () => {
    await list('a')
    const vault = tokenOf('v').address
    await test.db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${vault}, 'erc4626', ${tokenOf('a').address}, 6, ${vault}, 6)`
    const figures = { totalAssets: 1n, totalSupply: 1n, priceNumerator: 10n ** 18n, priceExponent: 18 }
    await recordObservation(test.db, {
      ...{ ...tokenOf('a'), priceUsd: '0.5', source: 'live' },
      observedAt: new Date((now - 2 * hour) * 1_000),
    })
    const hoursAgo = [30, 20, 10, 1]
    await recordSnapshots(
      test.db,
      hoursAgo.map((ago) => ({
        ...{ chainId, vaultAddress: vault, figures },
        block: { number: 100 - ago, hash: `0x${'0b'.repeat(32)}`, timestamp: now - ago * hour },
      })),
    )
    const usd = async () =>
      (
        await test.db<{ usd: string | null }[]>`
          select price_usd::text as usd from vault_snapshots order by block_timestamp`
      ).map((row) => row.usd)
    expect(await usd()).toEqual([null, null, null, '0.5'])
    for (let turn = 0; turn < 3; turn++) await run()
    expect(await fillSnapshotPrices(test.db, chainId)).toBe(2)
    const filled = [null, ...[20, 10].map((ago) => `1.00${(now / hour - ago) % 10}`), '0.5']
    expect(await usd()).toEqual(filled)
    for (let turn = 0; turn < 3; turn++) await run(48 + turn, { provider: providerOf(() => '1.1') })
    await fillSnapshotPrices(test.db, chainId)
    expect(await usd()).toEqual(filled)
  })
})
