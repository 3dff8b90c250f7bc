import { describe, expect, it } from 'vitest'
import { exactRate, relativeError } from '../../../test/history/recount.js'
import { readVectors } from '../../../test/vectors.js'
import { computeApr, computeApy, computeGrowth, round } from './rates.js'

type Vector = { name: string; p0: string; p1: string; effectiveIntervalSeconds: string; apr: string; apy: string }
const { vectors, undefinedCases } = readVectors('apr.json') as { vectors: Vector[]; undefinedCases: Vector[] }

const growthOf = (p0: string, p1: string) =>
  computeGrowth({ numerator: BigInt(p0), exponent: 18 }, { numerator: BigInt(p1), exponent: 18 })

describe('APR and APY', () => {
  it.each(vectors)('are those of the vector "$name", in percent', ({ p0, p1, effectiveIntervalSeconds, apr, apy }) => {
    const growth = growthOf(p0, p1)
    if (growth === undefined) throw new Error('it grows')
    const seconds = Number(effectiveIntervalSeconds)
    const digits = (fraction: string) =>
      round(Number(`${fraction.split('e')[0]}e${Number(fraction.split('e')[1] ?? 0) + 2}`))
    expect(computeApr(growth, seconds)).toBe(digits(apr))
    expect(computeApy(growth, seconds)).toBe(digits(apy))
  })

  it.each(undefinedCases)('are none where "$name"', ({ p0, p1, effectiveIntervalSeconds }) => {
    const growth = growthOf(p0, p1)
    expect(growth === undefined ? undefined : computeApy(growth, Number(effectiveIntervalSeconds))).toBeUndefined()
  })

  it('are 0 where nothing grew, over any time', () => {
    for (const seconds of [1, 900, 7_776_000]) {
      expect(computeApr(0, seconds)).toBe(0)
      expect(computeApy(0, seconds)).toBe(0)
    }
  })

  it('compare figures of different exponents as what they are worth', () => {
    const growth = computeGrowth({ numerator: 1_000_000n, exponent: 6 }, { numerator: 105n * 10n ** 16n, exponent: 18 })
    expect(growth).toBeCloseTo(0.05, 15)
  })
})

describe('the second implementation', () => {
  it.each(vectors)('gives the decimals of the vector "$name"', ({ p0, p1, effectiveIntervalSeconds, apr, apy }) => {
    const seconds = Number(effectiveIntervalSeconds)
    for (const [kind, text] of [
      ['apr', apr],
      ['apy', apy],
    ] as const) {
      const exact = exactRate(BigInt(p0), BigInt(p1), seconds, kind)
      expect(relativeError(Number(text) * 100, exact), kind).toBeLessThan(1e-15)
    }
  })
})
