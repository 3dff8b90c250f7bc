import { describe, expect, it } from 'vitest'
import { createFigures, cutName, toDecimal, toUnits } from './figures.js'

const english = createFigures('en')
const german = createFigures('de')
const arabic = createFigures('ar-EG')

describe('amounts', () => {
  it('are told exactly, however large', () => {
    expect(toDecimal(123_456_789_012_345_678_901_234_567n, 18)).toBe('123456789.012345678901234567')
    expect(english.amount(123_456_789_012_345_678_901_234_567n, 18)).toBe('123,456,789.012345678901234567')
    expect(german.amount(1_500_000n, 6)).toBe('1,5')
    expect(english.amount(5n, 0)).toBe('5')
  })

  it('of a token with impossible decimals are told in units', () => {
    for (const decimals of [-1, 1.5, 78, Number.NaN, 1e9]) expect(english.amount(7n, decimals)).toBe('7 units')
    expect(english.parse('1', 1e9)).toBeUndefined()
  })

  it.each([
    ['1.5', 1_500_000n],
    [' 1. ', 1_000_000n],
    ['0.000001', 1n],
    ['0.0000001', undefined],
    ['1,5', undefined],
    ['1,500', undefined],
    ['1e3', undefined],
    ['-1', undefined],
    ['0', undefined],
    ['', undefined],
    ['.5', undefined],
    ['1.2.3', undefined],
    ['0x10', undefined],
    ['９', undefined],
  ])('%j is read in English as %s', (text, units) => {
    expect(english.parse(text, 6)).toBe(units)
  })

  it('are read with the mark of the locale alone: 1.500 is not guessed at', () => {
    expect([german.parse('1,5', 6), german.parse('1.500', 6)]).toEqual([1_500_000n, undefined])
    expect([arabic.parse('١٫٥', 6), arabic.parse('1٫5', 6)]).toEqual([1_500_000n, 1_500_000n])
  })

  it('are typed by „all“ as they are read', () => {
    for (const figures of [english, german, arabic])
      for (const units of [1n, 1_500_000n, 987_654_321_012_345n])
        expect(figures.parse(figures.typed(units, 6), 6)).toBe(units)
  })

  it('are integers only where the service sends them', () => {
    expect([toUnits('12'), toUnits('1.2'), toUnits('-1'), toUnits('0x1'), toUnits(null), toUnits('')]).toEqual([
      ...[12n, undefined, undefined, undefined, undefined, undefined],
    ])
  })
})

describe('names', () => {
  it('are cut, on one line, and turn nothing around', () => {
    expect(cutName('USDC\u202egnp\u2066\u200b\n x')).toBe('USDCgnp x')
    expect(cutName('a'.repeat(10_240))).toBe(`${'a'.repeat(39)}…`)
    expect([...cutName('😀'.repeat(50))].length).toBe(40)
    expect([cutName(''), cutName('\u202e')]).toEqual(['…', '…'])
  })
})
