import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computeUsdDays } from './usdDays.js'

const day = 86_400_000
const one = { numerator: 10n ** 6n, exponent: 6, priceUsd: '1' }

describe('computeUsdDays', () => {
  it('is value times days, with every change of shares, share price and price counted from its instant', () => {
    const result = computeUsdDays({
      shares: [
        { atMs: 0, value: 5_000_000n },
        { atMs: 2 * day, value: 7_000_000n },
      ],
      prices: [
        { atMs: -day, value: one },
        { atMs: 3 * day, value: { ...one, numerator: 2n * 10n ** 6n, priceUsd: '0.5' } },
      ],
      assetDecimals: 6,
      fromMs: day,
      toMs: 5 * day,
    })
    // One day of 5, one of 7, then two of 7 × 2 × 0.5.
    expect(result).toEqual({ usdDays: '26', unpricedMs: 0 })
  })

  it('adds nothing for time without a price, and says how long that was', () => {
    const result = computeUsdDays({
      shares: [{ atMs: 0, value: 1_000_000n }],
      prices: [{ atMs: 2 * day, value: one }],
      assetDecimals: 6,
      fromMs: 0,
      toMs: 3 * day,
    })
    expect(result).toEqual({ usdDays: '1', unpricedMs: 2 * day })
  })

  it('does not depend on where the time is cut', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.tuple(fc.nat(10), fc.bigInt({ min: 0n, max: 10n ** 12n })), { maxLength: 6 }),
        (cut, changes) => {
          const shares = changes.map(([at, value]) => ({ atMs: at * day, value })).sort((a, b) => a.atMs - b.atMs)
          const over = (from: number, to: number) =>
            Number(
              computeUsdDays({
                shares,
                prices: [{ atMs: 0, value: one }],
                assetDecimals: 6,
                fromMs: from * day,
                toMs: to * day,
              }).usdDays,
            )
          expect(over(0, cut) + over(cut, 10)).toBeCloseTo(over(0, 10), 6)
        },
      ),
    )
  })
})
