import fc from 'fast-check'
import { maxUint256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { computeUsd, formatUnits, parseDecimal, parseRaw } from './amount.js'

describe('amounts', () => {
  it('parse only whole decimal digits below 2^256', () => {
    expect(parseRaw('0')).toBe(0n)
    expect(parseRaw(maxUint256.toString())).toBe(maxUint256)
    for (const text of ['', '-1', '1.5', '1e18', '0x1', ' 1', (maxUint256 + 1n).toString(), '9'.repeat(79)])
      expect(parseRaw(text)).toBeUndefined()
  })

  it('of whole units are read from a plain decimal only, and digits too many are cut', () => {
    expect(parseDecimal('1.23456789', 6)).toBe(1_234_567n)
    expect(parseDecimal('-0.129', 2)).toBe(-12n)
    expect(parseDecimal('5.', 1)).toBe(50n)
    for (const text of ['', 'x1', '1x', ' 1', '1 ', '+1', '1e3', '.5', '1.2.3'])
      expect(() => parseDecimal(text, 6)).toThrow(new RangeError(`not a plain decimal: ${text}`))
  })

  it('are written as plain decimals', () => {
    expect(formatUnits(1_500_000n, 6)).toBe('1.5')
    expect(formatUnits(1n, 18)).toBe('0.000000000000000001')
    expect(formatUnits(-25n, 1)).toBe('-2.5')
    expect(formatUnits(42n, 0)).toBe('42')
    expect(formatUnits(0n, 36)).toBe('0')
  })

  it('survive writing and reading for every amount and every number of decimals', () => {
    fc.assert(
      fc.property(fc.bigInt(-maxUint256, maxUint256), fc.integer({ min: 0, max: 36 }), (raw, decimals) => {
        expect(parseDecimal(formatUnits(raw, decimals), decimals)).toBe(raw)
      }),
    )
  })

  it('become dollars exactly', () => {
    expect(computeUsd(1_500_000n, 6, '1')).toBe('1.5')
    expect(computeUsd(123_456_789n, 8, '65000.5')).toBe('80247.530133945')
    expect(computeUsd(maxUint256, 0, '0')).toBe('0')
  })
})
