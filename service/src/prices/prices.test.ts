import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import type { createOutbound } from '../kernel/outbound.js'
import { recordSnapshots } from '../snapshots/index.js'
import { computeShareUsd, recordShares } from '../snapshots/shares.js'
import {
  acceptSuspects,
  fetchProvided,
  findPrice,
  listSuspects,
  openProvider,
  priceObservations,
  ranks,
  recordObservation,
  recordPeg,
  recordPegEnds,
  recordProvided,
} from './index.js'
import { toDecimal } from './providers.js'
import { listPricesAt } from './store.js'

const chainId = 1
const token = { chainId, address: `0x${'dd'.repeat(20)}` }
const other = { chainId, address: `0x${'ee'.repeat(20)}` }
const time = (minutes: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + minutes * 60_000)

/** Of a provider that is not asked what prices were. */
const noPast = { batchMax: 1, windowSeconds: 1, reachSeconds: 0, fetch: async () => [] }

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.db`truncate tokens, vaults, vault_snapshots, price_observations cascade`
})

const priceAt = async (minutes: number, of = token) => (await findPrice(test.db, of, time(minutes)))?.priceUsd
const provide = (priceUsd: string, minutes: number) =>
  recordProvided(test.db, [
    { ...token, priceUsd, source: 'defillama', observedAt: time(minutes), validUntil: time(minutes + 1_440) },
  ])

describe('the price of a token', () => {
  it('is of the first source in order that has one: peg, feed, share, provider', async () => {
    await recordObservation(test.db, { ...token, priceUsd: '4', source: 'defillama', observedAt: time(3) })
    expect(await priceAt(5)).toBe('4')
    const share = { ...token, priceUsd: '3', source: 'share:0x', rank: ranks.share, observedAt: time(2) }
    await recordObservation(test.db, { ...share, validUntil: time(60) })
    expect(await priceAt(5)).toBe('3')
    const feed = { ...token, priceUsd: '2', source: 'feed:0x', rank: ranks.feed, observedAt: time(1) }
    await recordObservation(test.db, { ...feed, validUntil: time(30) })
    expect(await priceAt(5)).toBe('2')
    expect(await priceAt(30)).toBe('2')
    expect(await priceAt(31)).toBe('3')
    expect(await priceAt(61)).toBe('4')
    await recordPeg(test, token, '1')
    expect(await priceAt(61)).toBe('1')
  })

  it('is never of an observation newer than the instant, for any mix of tokens and instants asked at once', async () => {
    for (const minutes of [10, 20, 30])
      await recordObservation(test.db, {
        ...token,
        priceUsd: String(minutes),
        source: 'test',
        observedAt: time(minutes),
      })
    await recordPeg(test, other, '7')
    const asked = [9, 10, 19, 20, 35].map((minutes) => ({ ...token, at: time(minutes) }))
    const found = await listPricesAt(test.db, [
      ...asked,
      { ...other, at: time(0) },
      { ...token, chainId: 2, at: time(50) },
    ])
    expect(found.map((each) => each?.priceUsd)).toEqual([undefined, '10', '10', '20', '30', '7', undefined])
  })

  it('ends with its peg at the import that leaves it out, holds before, and is back when it is', async () => {
    await recordPeg(test, token, '1')
    await recordPegEnds(test, [token, other], time(10))
    await recordPegEnds(test, [token], time(11))
    expect([await priceAt(9), await priceAt(10)]).toEqual(['1', undefined])
    await recordPeg(test, token, '1', time(20))
    await recordPeg(test, token, '1', time(21))
    expect([await priceAt(15), await priceAt(20)]).toEqual([undefined, '1'])
    expect((await test.db`select from price_observations`).length).toBe(3)
  })

  it('takes the later of two pegs of one instant, a price or that there is none', async () => {
    const count = async () => (await test.db`select from price_observations`).length
    await recordPeg(test, token, '1')
    await recordPegEnds(test, [token], time(10))
    await recordPeg(test, token, '1', time(10))
    expect(await priceAt(10)).toBe('1')
    await recordPegEnds(test, [token], time(10))
    expect([await priceAt(10), await count()]).toEqual([undefined, 4])
    await recordPegEnds(test, [token], time(11))
    expect(await count()).toBe(4)
    await recordPeg(test, other, '1')
    await recordPegEnds(test, [other], time(5))
    await recordPeg(test, other, '1', time(10))
    await recordPegEnds(test, [other], time(10))
    await recordPeg(test, other, '1', time(10))
    expect(await priceAt(10, other)).toBe('1')
  })

  it('is not of a block that was orphaned; the same said again at another block counts', async () => {
    const said = { ...token, priceUsd: '5', source: 'feed:0x', rank: ranks.feed, observedAt: time(1) }
    await recordObservation(test.db, { ...said, blockNumber: 10, blockHash: '0x0a' })
    await priceObservations.rewind(test.db, { chainId, number: 10 })
    expect(await priceAt(2)).toBe('5')
    await priceObservations.rewind(test.db, { chainId, number: 9 })
    expect(await priceAt(2)).toBeUndefined()
    await recordObservation(test.db, { ...said, blockNumber: 10, blockHash: '0x0b' })
    expect(await priceAt(2)).toBe('5')
  })
})

describe('a price over HTTP', () => {
  it('more than 20 % off the one before prices nothing until another within 5 % agrees', async () => {
    await provide('100', 0)
    await provide('120', 1)
    expect(await priceAt(1)).toBe('120')
    await provide('145', 2)
    await provide('145', 2)
    expect(await priceAt(3)).toBe('120')
    expect(await listSuspects(test.db)).toMatchObject([{ priceUsd: '145' }])
    await provide('160', 4)
    expect(await priceAt(4)).toBe('120')
    await provide('150', 5)
    expect(await priceAt(5)).toBe('150')
    expect(await priceAt(2)).toBe('145')
    expect(await listSuspects(test.db)).toEqual([])
  })

  it('that falls back leaves the jump behind', async () => {
    await provide('100', 0)
    await provide('1', 1)
    await provide('101', 2)
    await provide('1', 3)
    expect(await priceAt(4)).toBe('101')
    expect((await listSuspects(test.db)).map(({ observedAt }) => observedAt)).toEqual([time(3)])
  })

  it('that is suspect counts when an operator agrees', async () => {
    await provide('100', 0)
    await provide('10', 1)
    expect(await acceptSuspects(test.db, token)).toBe(1)
    expect(await priceAt(1)).toBe('10')
  })

  it('is stale after a day; what a chain says is never withheld for its size', async () => {
    await provide('100', 0)
    expect([await priceAt(1_440), await priceAt(1_441)]).toEqual(['100', undefined])
    for (const [index, priceUsd] of ['100', '1', '9000'].entries())
      await recordObservation(test.db, {
        ...token,
        priceUsd,
        source: 'feed:0x',
        rank: ranks.feed,
        observedAt: time(index),
      })
    expect([await priceAt(0), await priceAt(1), await priceAt(2)]).toEqual(['100', '1', '9000'])
  })
})

describe('the adapter of a provider', () => {
  const requests: { url: string; headers: Readonly<Record<string, string>> | undefined }[] = []
  const open = (kind: 'defillama' | 'coingecko', body: unknown, key?: string) => {
    requests.length = 0
    const outbound = {
      fetchText: async ({ url, headers }: Parameters<ReturnType<typeof createOutbound>['fetchText']>[0]) => {
        requests.push({ url, headers })
        return typeof body === 'string' ? body : JSON.stringify(body)
      },
    }
    return openProvider(outbound, { kind, url: 'https://prices.example/', key })
  }

  it('asks and reads DefiLlama', async () => {
    const body = {
      coins: {
        'ethereum:0xAbC1': { decimals: 6, symbol: 'USDC', price: 0.999, timestamp: 1_763_640_000, confidence: 0.99 },
        'coingecko:dai': { price: 1.0001, timestamp: 1_763_640_001 },
      },
    }
    expect(await open('defillama', body).fetchPrices(['ethereum:0xabc1', 'coingecko:dai', 'x:y'])).toEqual([
      { priceId: 'ethereum:0xabc1', priceUsd: '0.999', atSeconds: 1_763_640_000 },
      { priceId: 'coingecko:dai', priceUsd: '1.0001', atSeconds: 1_763_640_001 },
    ])
    expect(requests[0]?.url).toBe('https://prices.example/prices/current/ethereum%3A0xabc1,coingecko%3Adai,x%3Ay')
    await open('defillama', body, 'k/1').fetchPrices(['a'])
    expect(requests[0]?.url).toBe('https://prices.example/k%2F1/coins/prices/current/a')
  })

  it('asks and reads CoinGecko', async () => {
    const body = { dai: { usd: 1.25e-7, last_updated_at: 1_763_640_001 }, 'usd-coin': { usd: null } }
    const provider = open('coingecko', body, 'secret')
    expect(await provider.fetchPrices(['usd-coin', 'dai'])).toEqual([
      { priceId: 'dai', priceUsd: '0.000000125', atSeconds: 1_763_640_001 },
    ])
    expect(requests[0]).toEqual({
      url: 'https://prices.example/simple/price?ids=usd-coin%2Cdai&vs_currencies=usd&include_last_updated_at=true&precision=full',
      headers: { 'x-cg-pro-api-key': 'secret' },
    })
  })

  it('asks and reads the past at DefiLlama and at CoinGecko', async () => {
    const point = (at: number, price: unknown) => ({ timestamp: at, price, confidence: 0.9 })
    const coins = {
      'ethereum:0xAbC1': { symbol: 'USDC', prices: [point(1_763_640_000, 0.999), point(1_763_643_600, null)] },
      'coingecko:dai': { prices: [point(1_763_640_002, 1.0001)] },
    }
    const range = { from: 1_763_636_400, to: 1_763_643_601 }
    expect(
      await open('defillama', { coins }, 'k').past.fetch(['ethereum:0xabc1', 'coingecko:dai', 'x'], range),
    ).toEqual([
      { priceId: 'ethereum:0xabc1', priceUsd: '0.999', atSeconds: 1_763_640_000 },
      { priceId: 'coingecko:dai', priceUsd: '1.0001', atSeconds: 1_763_640_002 },
    ])
    expect(requests[0]?.url).toBe(
      'https://prices.example/k/coins/chart/ethereum%3A0xabc1,coingecko%3Adai,x?start=1763636400&span=3&period=1h',
    )
    const prices = [[1_763_640_001_999, 1.25e-7], [1_763_643_600_000, null], ['x', 1], []]
    expect(await open('coingecko', { prices, market_caps: [] }, 'secret').past.fetch(['dai'], range)).toEqual([
      { priceId: 'dai', priceUsd: '0.000000125', atSeconds: 1_763_640_001 },
    ])
    expect(requests[0]).toEqual({
      url: 'https://prices.example/coins/dai/market_chart/range?vs_currency=usd&from=1763636400&to=1763643601&precision=full',
      headers: { 'x-cg-pro-api-key': 'secret' },
    })
  })

  it.each(['not json', '[]', 'null', '{"coins":[1]}', '{"coins":{"a":7}}'])('refuses %s', async (body) => {
    await expect(open('defillama', body).fetchPrices(['a'])).rejects.toMatchObject({ kind: 'malformed' })
  })

  it.each([
    [1, '1'],
    [0.1, '0.1'],
    [123.456, '123.456'],
    [1e-7, '0.0000001'],
    [1.5e-10, '0.00000000015'],
    [1e15, '1000000000000000'],
    [0, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    [1e16, undefined],
    ['1', undefined],
    [null, undefined],
  ])('takes %s for %s', (value, expected) => {
    expect(toDecimal(value)).toBe(expected)
  })

  it('leaves prices as they were where one batch fails, takes the others, and reads no time of the future', async () => {
    for (const [index, each] of [token, other].entries())
      await test.db`
        insert into tokens (chain_id, address, decimals, symbol, name, price_id)
        values (${chainId}, ${each.address}, 6, 'T', 'T', ${`id${index}`})`
    const provider = {
      ...{ name: 'test', batchMax: 1, past: noPast },
      fetchPrices: async ([id = '']: readonly string[]) => {
        if (id === 'id0') throw new Error('down')
        return [{ priceId: id, priceUsd: '3', atSeconds: time(600).getTime() / 1_000 }]
      },
    }
    await fetchProvided({ db: test.db, log: silentLog, clock: { ...systemClock, now: () => time(5) } }, provider)
    expect([await priceAt(5), await priceAt(5, other)]).toEqual([undefined, '3'])
  })
})

describe('a share of a vault', () => {
  it.each([
    ['6 and 18', { assetDecimals: 6, receiptDecimals: 18, priceExponent: 30 }, 10n ** 6n * 10n ** 12n * 2n, '2'],
    ['0 and 36', { assetDecimals: 0, receiptDecimals: 36, priceExponent: 48 }, 3n * 10n ** 12n, '3'],
    ['36 and 0', { assetDecimals: 36, receiptDecimals: 0, priceExponent: 0 }, 15n * 10n ** 35n, '1.5'],
  ])('is worth its price in the asset times the asset’s, with decimals %s', (_what, decimals, numerator, expected) => {
    expect(computeShareUsd({ ...decimals, priceNumerator: String(numerator), assetUsd: '1' })).toBe(expected)
  })

  it('is priced at every snapshot whose asset has a price, and not by dust of nothing', async () => {
    const vault = other.address
    await test.db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${vault}, 'erc4626', ${token.address}, 6, ${vault}, 6)`
    await test.db`
      insert into tokens (chain_id, address, decimals, symbol, name, price_vault)
      values (${chainId}, ${vault}, 6, 'S', 'S', ${vault})`
    await recordPeg(test, token, '2')
    const figures = { totalAssets: 1n, totalSupply: 1n, priceNumerator: 1_100_000n * 10n ** 12n, priceExponent: 18 }
    const at = (minutes: number, more = {}) => ({
      ...{ chainId, vaultAddress: vault, figures: { ...figures, ...more } },
      block: { number: minutes, hash: `0x${'0b'.repeat(32)}`, timestamp: time(minutes).getTime() / 1_000 },
    })
    await recordSnapshots(test.db, [at(1), at(5, { priceNumerator: 0n }), at(9, { totalSupply: 0n })])
    await recordShares(test.db, chainId)
    await recordShares(test.db, chainId)
    expect([await priceAt(0, other), await priceAt(1, other), await priceAt(31, other)]).toEqual([
      undefined,
      '2.2',
      '2.2',
    ])
    expect(await priceAt(32, other)).toBeUndefined()
    expect((await test.db`select from price_observations where rank = 2`).length).toBe(1)
  })
})
