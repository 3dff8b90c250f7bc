import { describe, expect, it } from 'vitest'
import { findRate, toMethod, toMoment, toRatePoints, toSharePrice, toTvl } from './point.js'
import { countBuckets, parseRange } from './range.js'
import { computeGrowth } from './rates.js'
import { cutUsd, formatPrice, formatSharePrice, priceScale, type Reading, toNumber, toUsd } from './readings.js'

const day = 86_400
const year = 365 * day
const decimals = { assetDecimals: 6, receiptDecimals: 18 }
const reading = (more: Partial<Reading> = {}): Reading => ({
  ...{ at: 1_700_000_000, blockNumber: 7, totalAssets: '2500000', totalSupply: '900', priceNumerator: '1050000' },
  ...{ priceExponent: 18, priceUsd: 2n * 10n ** 18n, blockHash: 'ab' },
  ...more,
})

describe('a point', () => {
  it('says when it is, and at which block', () => {
    expect(toMoment(reading())).toEqual({ timestamp: '2023-11-14T22:13:20Z', blockNumber: 7 })
  })

  it('says what a vault holds, in its asset and in dollars where a price is known', () => {
    expect(toTvl(reading(), decimals)).toEqual({ native: 2.5, usd: 5 })
    expect(toTvl(reading({ priceUsd: undefined }), decimals)).toEqual({ native: 2.5, usd: null })
  })

  it('says what a whole share is worth', () => {
    expect(toSharePrice(reading(), decimals)).toEqual({ native: 1.05, usd: 2.1 })
    expect(toSharePrice(reading({ priceUsd: undefined }), decimals)).toEqual({ native: 1.05, usd: null })
  })

  it('of a rate has no reward in it, and no point where it is no number', () => {
    const [from, to] = [reading({ at: 0 }), reading({ at: year })]
    expect(findRate({ from, to, growth: 0.05 }, 'apr')).toEqual({ base: 5, reward: 0, total: 5 })
    expect(findRate({ from, to: from, growth: 0.05 }, 'apr')).toBeUndefined()
    const growths = [
      { from, to, growth: 0.21 },
      { from, to: from, growth: 0.21 },
    ]
    expect(toRatePoints(growths, 'apy', undefined)).toEqual([
      {
        timestamp: '1971-01-01T00:00:00Z',
        blockNumber: 7,
        apy: { base: 21, reward: 0, total: 21 },
        effectiveIntervalSeconds: year,
      },
    ])
  })

  it('has all that a person needs to count it again, where that is asked for', () => {
    const [from, to] = [reading({ at: 0, priceUsd: undefined }), reading({ at: year })]
    const [point] = toRatePoints([{ from, to, growth: 0.05 }], 'apr', decimals)
    const same = { blockNumber: 7, blockHash: '0xab', totalAssets: '2500000', totalSupply: '900', sharePrice: '1.05' }
    expect(point?.inputs).toEqual({
      from: { ...same, timestamp: '1970-01-01T00:00:00Z', priceNumerator: '1050000', priceUsd: null },
      to: { ...same, timestamp: '1971-01-01T00:00:00Z', priceNumerator: '1050000', priceUsd: '2' },
    })
  })

  it('names the method it was made by', () => {
    expect(toMethod('apr', 'nav')).toEqual({ id: 'share-price-growth-simple', version: '1', source: 'nav' })
    expect(toMethod('apy', 'share-price')).toEqual({ id: 'growth-compound', version: '1', source: 'share-price' })
  })
})

describe('figures', () => {
  it('are scaled by the decimals of asset, price and receipt', () => {
    expect(priceScale(reading(), decimals)).toBe(6)
    expect(priceScale(reading({ priceExponent: 0 }), { assetDecimals: 6, receiptDecimals: 18 })).toBe(-12)
    expect([toNumber('1234', 2), toNumber(1234n, -2)]).toEqual([12.34, 123_400])
  })

  it('in dollars are cut, not rounded, whichever way the decimals go', () => {
    expect(cutUsd(1_999_999n, 6, 1n)).toBe(1n)
    expect(cutUsd(5n, 0, 3n)).toBe(15n)
    expect(cutUsd(5n, -2, 3n)).toBe(1_500n)
    expect(toUsd('1999999', 6, 10n ** 18n)).toBe(1.999999)
    expect(toUsd('1', 6, undefined)).toBeNull()
  })

  it('are written out as plain decimals, exact', () => {
    expect(formatSharePrice(reading(), decimals)).toBe('1.05')
    expect(formatSharePrice(reading({ priceNumerator: '3', priceExponent: 12 }), decimals)).toBe('3')
    expect(formatSharePrice(reading({ priceNumerator: '3', priceExponent: 10 }), decimals)).toBe('300')
    expect([formatPrice(15n * 10n ** 17n), formatPrice(undefined)]).toEqual(['1.5', null])
  })

  it('that do not differ have grown by 0, and nothing grows from 0', () => {
    const figure = (numerator: bigint, exponent: number) => ({ numerator, exponent })
    expect(computeGrowth(figure(5n, 1), figure(50n, 2))).toBe(0)
    expect(computeGrowth(figure(5n, 2), figure(5n, 1))).toBe(9)
    expect(computeGrowth(figure(5n, 1), figure(5n, 1))).toBe(0)
    expect(computeGrowth(figure(0n, 1), figure(5n, 1))).toBeUndefined()
  })
})

describe('the range asked for', () => {
  const now = new Date('2026-11-20T12:00:00Z')

  it('is in days, with growth over thirty of them, where nothing else is said', () => {
    expect(parseRange({ startDate: '2026-11-19T12:00:00Z' }, now)).toEqual({
      startMs: Date.parse('2026-11-19T12:00:00Z'),
      endMs: now.getTime(),
      step: day,
      apyInterval: 30 * day,
      now,
    })
    const asked = { startDate: '2026-11-19T12:00:00Z', endDate: '2026-11-19T13:00:00Z', step: 900, apyInterval: 60 }
    expect(parseRange(asked, now)).toMatchObject({ endMs: Date.parse(asked.endDate), step: 900, apyInterval: 60 })
  })

  it('counts each bucket it meets', () => {
    expect(countBuckets({ startMs: 0, endMs: 0, step: 10 })).toBe(1)
    expect(countBuckets({ startMs: 9_999, endMs: 10_000, step: 10 })).toBe(2)
    expect(countBuckets({ startMs: 10_000, endMs: 19_999, step: 10 })).toBe(1)
  })

  it('has at most 10,000 buckets, and 1,000 with their inputs', () => {
    const back = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString()
    const ask = (buckets: number, includeInputs?: boolean) =>
      parseRange(
        { startDate: back(buckets - 1), step: 1, ...(includeInputs === undefined ? {} : { includeInputs }) },
        now,
      )
    expect(countBuckets(ask(10_000))).toBe(10_000)
    expect(() => ask(10_001)).toThrow(
      'the range has 10001 buckets at this step, at most 10000 are served; widen the step',
    )
    expect(countBuckets(ask(1_000, true))).toBe(1_000)
    expect(countBuckets(ask(1_001, false))).toBe(1_001)
    expect(() => ask(1_001, true)).toThrow(
      'the range has 1001 buckets at this step, at most 1000 are served with their inputs',
    )
  })
})
