import { describe, expect, it } from 'vitest'
import type { GrowthSpan } from '../../vaults/configured/index.js'
import { computeApyMovement, computeCountMovement, computeTvlMovement, rateOf, toStanding } from './movements.js'
import { isReading, lastOfBuckets, listGrowth, type Trust, toFigure } from './points.js'
import type { Range } from './range.js'
import type { Reading } from './readings.js'
import { assertServed, sharePriceGrowth, toTrust } from './series.js'

const day = 86_400
const year = 365 * day
const reading = (at: number, more: Partial<Reading> = {}): Reading => ({
  ...{ at, blockNumber: at, totalAssets: '5000000', totalSupply: '1000', priceNumerator: '1000000', priceExponent: 6 },
  ...{ priceUsd: 10n ** 18n, blockHash: '-' },
  ...more,
})
const trust: Trust = { dustFloor: 100n, pauses: [], isPriced: false }
const nav: GrowthSpan = { source: 'nav', fromMs: 0, toMs: Number.POSITIVE_INFINITY }

describe('a snapshot', () => {
  it('is a reading from the dust floor of shares on', () => {
    for (const [totalSupply, is] of [
      ['99', false],
      ['100', true],
      ['1000000000000000000', true],
    ] as const)
      expect(isReading(reading(1, { totalSupply }), trust)).toBe(is)
  })

  it('is held to a floor of any size: 10^16 and more as well', () => {
    const floor = { ...trust, dustFloor: 10n ** 17n }
    expect(isReading(reading(1, { totalSupply: String(10n ** 17n - 1n) }), floor)).toBe(false)
    expect(isReading(reading(1, { totalSupply: String(10n ** 17n) }), floor)).toBe(true)
    const sixteen = { ...trust, dustFloor: 9_999_999_999_999_999n }
    expect(isReading(reading(1, { totalSupply: '9999999999999998' }), sixteen)).toBe(false)
  })

  it('is no reading while the vault was paused, and is one from the instant the pause ended', () => {
    const paused = { ...trust, pauses: [{ from: 10, to: 20 }] }
    expect([9, 10, 19, 20].map((at) => isReading(reading(at), paused))).toEqual([true, false, false, true])
  })

  it('without a price is a reading of the share price, not of what is measured in dollars', () => {
    const unpriced = reading(1, { priceUsd: undefined })
    expect(isReading(unpriced, trust)).toBe(true)
    expect(isReading(unpriced, { ...trust, isPriced: true })).toBe(false)
    expect(isReading(reading(1), { ...trust, isPriced: true })).toBe(true)
  })

  it('is trusted by what the vault and its head say', () => {
    const at = (seconds: number) => new Date(seconds * 1000)
    const series = {
      vault: { dustFloor: '7' },
      head: {
        pauses: [
          { from: at(1), to: at(2) },
          { from: at(3), to: null },
        ],
      },
    }
    const told = toTrust(series as unknown as Parameters<typeof toTrust>[0], 'nav')
    expect(told).toEqual({
      dustFloor: 7n,
      pauses: [
        { from: 1, to: 2 },
        { from: 3, to: Number.POSITIVE_INFINITY },
      ],
      isPriced: true,
    })
    expect(toTrust(series as unknown as Parameters<typeof toTrust>[0], 'share-price').isPriced).toBe(false)
  })
})

describe('a range in buckets', () => {
  const range: Range = { startMs: 20_000, endMs: 40_000, step: 10, apyInterval: 15 }

  it('has the last snapshot of each bucket, both ends counted in', () => {
    const snapshots = [19, 20, 24, 29, 30, 40, 41].map((at) => reading(at))
    expect(lastOfBuckets(snapshots, range).map(({ at }) => at)).toEqual([29, 30, 40])
  })

  it('has growth from the newest reading that is old enough, and none where there is none so old', () => {
    const snapshots = [4, 5, 14, 20, 25, 40].map((at) => reading(at))
    const found = listGrowth(snapshots, range, trust, sharePriceGrowth)
    expect(found.map(({ from, to }) => [from.at, to.at])).toEqual([
      [5, 25],
      [25, 40],
    ])
    expect(listGrowth([reading(6), reading(20)], range, trust, sharePriceGrowth)).toEqual([])
    expect(listGrowth([reading(5), reading(20)], range, trust, sharePriceGrowth)).toHaveLength(1)
  })

  it('has growth of readings only, and of what the source measures: from its beginning, its end left out', () => {
    const snapshots = [5, 20, 40].map((at) => reading(at))
    const dusty = [reading(5), reading(20), reading(40, { totalSupply: '1' })]
    expect(listGrowth(dusty, range, trust, sharePriceGrowth).map(({ to }) => to.at)).toEqual([20])
    const told = (fromMs: number, toMs: number) =>
      listGrowth(snapshots, range, trust, { source: 'share-price', fromMs, toMs }).map(({ to }) => to.at)
    expect(told(20_000, 40_000)).toEqual([20])
    expect(told(20_001, 40_001)).toEqual([40])
  })

  it('has no growth from a price of 0', () => {
    expect(listGrowth([reading(5, { priceNumerator: '0' }), reading(20)], range, trust, sharePriceGrowth)).toEqual([])
  })
})

describe('what growth is measured of', () => {
  it('is the price of a share, in dollars where the source is NAV; without a price that is 0', () => {
    const priced = reading(1, { priceUsd: 3n })
    expect(toFigure(priced, { source: 'share-price' })).toEqual({ numerator: 1_000_000n, exponent: 6 })
    expect(toFigure(priced, { source: 'nav' })).toEqual({ numerator: 3_000_000n, exponent: 6 })
    expect(toFigure(reading(1, { priceUsd: undefined }), { source: 'nav' }).numerator).toBe(0n)
  })
})

describe('a standing', () => {
  const line = (at: number, price: string) => `${at} ${at} 5000000 900 ${price} 6 1 -`
  const standing = toStanding({ last: line(year, '1100000'), to: line(year, '1100000'), from: line(0, '1000000') })

  it('is read of lines, of which any may be missing', () => {
    expect(standing.to).toMatchObject({ at: year, priceNumerator: '1100000' })
    expect(toStanding({ last: null, to: null, from: null })).toEqual({
      last: undefined,
      to: undefined,
      from: undefined,
    })
  })

  it('has a rate where both its readings are there and the source measures the later one', () => {
    expect([rateOf(standing, 'apr', sharePriceGrowth), rateOf(standing, 'apy', sharePriceGrowth)]).toEqual([10, 10])
    expect(rateOf({ ...standing, from: undefined }, 'apr', sharePriceGrowth)).toBeNull()
    expect(rateOf({ ...standing, to: undefined }, 'apr', sharePriceGrowth)).toBeNull()
    const spans = [
      [year * 1000, year * 1000 + 1, 10],
      [year * 1000 + 1, year * 1000 + 2, null],
      [0, year * 1000, null],
    ] as const
    for (const [fromMs, toMs, rate] of spans)
      expect(rateOf(standing, 'apr', { source: 'share-price', fromMs, toMs })).toBe(rate)
    const worthless = { ...standing, from: reading(0, { priceNumerator: '0' }) }
    expect(rateOf(worthless, 'apr', sharePriceGrowth)).toBeNull()
    expect(rateOf({ ...standing, from: standing.to }, 'apr', sharePriceGrowth)).toBeNull()
  })

  const decimals = { assetDecimals: 6, receiptDecimals: 6 }
  const holding = (totalAssets: string, priceUsd: bigint | undefined = 10n ** 18n) => ({
    ...{ last: reading(1, { totalAssets, priceUsd }), to: undefined, from: undefined },
  })
  const unpriced = { ...holding('1'), last: reading(1, { priceUsd: undefined }) }

  it('moves in TVL against each of the days before, where both have a price', () => {
    const then = [holding('4000000'), unpriced, holding('7500000')]
    expect(computeTvlMovement(holding('5000000'), then, decimals)).toEqual({ current: 5, d1: 1, d7: null, d30: -2.5 })
    // To 12 digits, as rates are.
    const before = [holding('4999999999999', 333_333_333_333_333_333n)]
    expect(computeTvlMovement(holding('5000000'), before, decimals)).toMatchObject({ d1: -1_666_661.66667 })
    expect(computeTvlMovement(unpriced, then, decimals)).toEqual({ current: null, d1: null, d7: null, d30: null })
    expect(computeTvlMovement(holding('5000000'), [], decimals)).toMatchObject({ current: 5, d1: null, d30: null })
  })

  it('moves in APY by the source that measures now, and shows nothing while there is none', () => {
    const slower = toStanding({ last: null, to: line(year, '1050000'), from: line(0, '1000000') })
    const nothing = toStanding({ last: null, to: null, from: null })
    expect(computeApyMovement(standing, [slower, nothing], sharePriceGrowth)).toEqual({
      ...{ current: 10, d1: 5, d7: null, d30: null },
    })
    expect(computeApyMovement(nothing, [slower], sharePriceGrowth)).toMatchObject({ current: null, d1: null })
    expect(computeApyMovement(standing, [slower], undefined)).toMatchObject({ current: null, d1: null })
    expect(rateOf(standing, 'apr', nav)).toBe(10)
  })

  it('moves in counts, where both are known', () => {
    expect(computeCountMovement([5, 3, null, 9])).toEqual({ current: 5, d1: 2, d7: null, d30: -4 })
    expect(computeCountMovement([null, 3])).toEqual({ current: null, d1: null, d7: null, d30: null })
    expect(computeCountMovement([])).toEqual({ current: null, d1: null, d7: null, d30: null })
  })
})

describe('a series', () => {
  const series = (reason: 'PROTOCOL_UNSUPPORTED' | 'INDEXING_STALLED') => ({
    withheld: { reason, text: 'it is withheld' },
    retryAfterSeconds: 17,
  })

  it('that is withheld is a 404 where the vault has none, and a 503 with a time to come back where it is late', () => {
    expect(assertServed({ withheld: undefined, retryAfterSeconds: 1 })).toBeUndefined()
    expect(() => assertServed(series('PROTOCOL_UNSUPPORTED'))).toThrow(
      expect.objectContaining({ code: 404, reason: 'PROTOCOL_UNSUPPORTED', message: 'it is withheld' }),
    )
    expect(() => assertServed(series('INDEXING_STALLED'))).toThrow(
      expect.objectContaining({ code: 503, reason: 'INDEXING_STALLED', retryAfterSeconds: 17 }),
    )
  })
})
