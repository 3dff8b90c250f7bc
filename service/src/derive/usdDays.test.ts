import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeLeast, computeUsdDays, type PaidLevel, withholdPrices } from './usdDays.js'

const day = 86_400_000
const digits = 10n ** 18n
const one: PaidLevel = { numerator: 10n ** 6n, full: 10n ** 6n, exponent: 6, isGuarded: true, priceUsd: '1' }

describe('computeUsdDays', () => {
  it('is value times days, with every change of shares, share price and price counted from its instant', () => {
    const { total, stretches } = computeUsdDays({
      shares: [
        { atMs: 0, value: 5_000_000n },
        { atMs: 2 * day, value: 7_000_000n },
      ],
      least: [],
      prices: [
        { atMs: -day, value: one },
        { atMs: 3 * day, value: { ...one, numerator: 2n * 10n ** 6n, priceUsd: '0.5' } },
      ],
      assetDecimals: 6,
      bounds: [day, 2 * day, 5 * day],
    })
    // One day of 5, one of 7, then two of 7 × 2 × 0.5.
    expect(total).toEqual({ usdDays: 26n * digits, unpricedMs: 0, unguardedMs: 0 })
    expect(stretches.map(({ usdDays }) => usdDays)).toEqual([5n * digits, 21n * digits])
  })

  it('cuts once, at the end: three stretches of a third of the last digit are one digit', () => {
    const prices = [{ atMs: 0, value: { ...one, numerator: 1n, exponent: 18 } }]
    const shares = [{ atMs: 0, value: 1n }]
    const input = { shares, least: [], prices, assetDecimals: 0 }
    expect(computeUsdDays({ ...input, bounds: [0, day / 3, (2 * day) / 3, day] })).toMatchObject({
      total: { usdDays: 1n, unpricedMs: 0, unguardedMs: 0 },
      stretches: [0, 1, 2].map(() => ({ usdDays: 0n, unpricedMs: 0, unguardedMs: 0 })),
    })
  })

  it('adds nothing for time without a price, and says how long that was', () => {
    const { total } = computeUsdDays({
      shares: [{ atMs: 0, value: 1_000_000n }],
      least: [],
      prices: [{ atMs: 2 * day, value: one }],
      assetDecimals: 6,
      bounds: [0, 3 * day],
    })
    expect(total).toEqual({ usdDays: digits, unpricedMs: 2 * day, unguardedMs: 0 })
  })

  it('counts the least that lots were since the snapshot, at its price, where no price guards them', () => {
    const least = computeLeast(
      [
        { atMs: 0, key: 'a', after: 4_000_000n },
        { atMs: 0, key: 'b', after: 1_000_000n },
        { atMs: 2 * day, key: 'a', after: 3_000_000n },
        { atMs: 2 * day, key: 'b', after: 9_000_000n },
        { atMs: 3 * day, key: 'a', after: 5_000_000n },
        { atMs: 5 * day, key: 'b', after: 8_000_000n },
      ],
      [0, 4 * day],
    )
    // From the snapshot on 4 and 1, then 3 and 1; anew from the second one 5 and 9, then 5 and 8.
    expect(least.map(({ atMs, value }) => [atMs / day, value / 10n ** 6n])).toEqual([
      ...[
        [0, 5n],
        [2, 4n],
        [3, 4n],
      ],
      ...[
        [4, 14n],
        [5, 13n],
      ],
    ])
    const { total } = computeUsdDays({
      shares: [{ atMs: 0, value: 5_000_000n }],
      least,
      prices: [{ atMs: 0, value: { ...one, numerator: 1n, isGuarded: false } }],
      assetDecimals: 6,
      bounds: [2 * day, 3 * day],
    })
    expect(total).toEqual({ usdDays: 4n * digits, unpricedMs: 0, unguardedMs: day })
  })

  it('is the same wherever the time is cut, but for less than one digit a stretch', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }),
        fc.array(fc.tuple(fc.nat(10), fc.bigInt({ min: 0n, max: 10n ** 12n })), { maxLength: 6 }),
        (cuts, changes) => {
          const { total, stretches } = computeUsdDays({
            shares: changes.map(([at, value]) => ({ atMs: at * day, value })).sort((a, b) => a.atMs - b.atMs),
            least: [],
            prices: [{ atMs: 0, value: { ...one, priceUsd: '0.333333333333333333' } }],
            assetDecimals: 7,
            bounds: [0, ...cuts.sort((a, b) => a - b), 10].map((at) => at * day),
          })
          const sum = stretches.reduce((all, { usdDays }) => all + usdDays, 0n)
          const rest = total.usdDays - sum
          expect(rest >= 0n && rest < BigInt(stretches.length)).toBe(true)
        },
      ),
    )
  })
})

describe('withholdPrices', () => {
  const prices = [1, 3, 6].map((at) => ({ atMs: at, value: { ...one, numerator: BigInt(at) } }))
  const show = (spans: { fromMs: number; toMs: number }[]) =>
    withholdPrices(prices, spans).map(({ atMs, value }) => [
      atMs,
      value.priceUsd === null ? null : Number(value.numerator),
    ])

  it('leaves no price within a span, and after it the one that holds by then', () => {
    expect(show([{ fromMs: 2, toMs: 5 }])).toEqual([
      ...[
        [1, 1],
        [2, null],
        [3, null],
      ],
      ...[
        [5, 3],
        [6, 6],
      ],
    ])
  })

  it('takes spans without a beginning or an end, and makes no price where there was none', () => {
    const open = { fromMs: Number.NEGATIVE_INFINITY, toMs: 2 }
    expect(show([open, { fromMs: 6, toMs: Number.POSITIVE_INFINITY }])).toEqual([
      ...[
        [1, null],
        [2, 1],
      ],
      ...[
        [3, 3],
        [6, null],
      ],
    ])
    expect(show([{ fromMs: -5, toMs: 0 }])).toEqual(prices.map(({ atMs }) => [atMs, atMs]))
    expect(withholdPrices(prices, [])).toBe(prices)
  })
})
