import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Bits,
  countBits,
  emptyBits,
  fullBits,
  hasBit,
  keepAny,
  keepBetween,
  keepContaining,
  keepOnly,
  remove,
  setBit,
} from './bits.js'

const size = fc.integer({ min: 0, max: 200 })
const bitsOf = (length: number, members: readonly number[]): Bits => {
  const bits = emptyBits(length)
  for (const member of members) if (member < length) setBit(bits, member)
  return bits
}
const membersOf = (bits: Bits) => Array.from({ length: bits.size }, (_, at) => at).filter((at) => hasBit(bits, at))
const members = fc.uniqueArray(fc.integer({ min: 0, max: 199 }))

describe('bits', () => {
  it('hold what was set, nothing else, and know how many', () => {
    fc.assert(
      fc.property(size, members, (length, chosen) => {
        const bits = bitsOf(length, chosen)
        const expected = chosen.filter((at) => at < length).sort((a, b) => a - b)
        expect(membersOf(bits)).toEqual(expected)
        expect(countBits(bits)).toBe(expected.length)
        expect(countBits(fullBits(length))).toBe(length)
        expect(countBits(emptyBits(length))).toBe(0)
      }),
    )
  })

  it('keep and remove as sets do', () => {
    fc.assert(
      fc.property(size, members, members, members, (length, a, b, c) => {
        const start = membersOf(bitsOf(length, a))
        const after = (change: (bits: Bits) => void) => {
          const bits = bitsOf(length, a)
          change(bits)
          expect(countBits(bits)).toBe(membersOf(bits).length)
          return membersOf(bits)
        }
        const others = [bitsOf(length, b), bitsOf(length, c)] as const
        expect(after((bits) => keepOnly(bits, others[0]))).toEqual(start.filter((at) => b.includes(at)))
        expect(after((bits) => remove(bits, others[0]))).toEqual(start.filter((at) => !b.includes(at)))
        expect(after((bits) => keepAny(bits, others))).toEqual(start.filter((at) => b.includes(at) || c.includes(at)))
        expect(after((bits) => keepAny(bits, []))).toEqual([])
      }),
    )
  })

  it('keep by value and by text as a plain filter does', () => {
    const values = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 200, maxLength: 200 })
    fc.assert(
      fc.property(size, members, values, fc.integer({ min: -3, max: 3 }), (length, chosen, numbers, min) => {
        const bits = bitsOf(length, chosen)
        const start = membersOf(bits)
        keepBetween(bits, Float64Array.from(numbers), min, min + 1)
        const inside = (at: number) => (numbers[at] ?? 9) >= min && (numbers[at] ?? 9) <= min + 1
        expect(membersOf(bits)).toEqual(start.filter(inside))
        const texts = numbers.map((number) => `n${number}`)
        const searched = bitsOf(length, chosen)
        keepContaining(searched, texts, String(min))
        expect(membersOf(searched)).toEqual(start.filter((at) => texts[at]?.includes(String(min))))
      }),
    )
  })
})
