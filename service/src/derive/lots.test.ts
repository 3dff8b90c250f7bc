import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addShares, emptyHolder, type Holder, splitProportionally, takeProportionally } from './lots.js'

const holder = (unattributed: bigint, lots: Record<string, bigint>): Holder => {
  const made = emptyHolder()
  addShares(made, unattributed, null)
  for (const [id, shares] of Object.entries(lots)) addShares(made, shares, id)
  return made
}
const show = (of: Holder) => ({ unattributed: of.shares - of.attributed, ...Object.fromEntries(of.lots) })

describe('splitProportionally', () => {
  it('gives floors first, then the units left over by largest fraction', () => {
    // 10 over 3:3:1 is 4.28…, 4.28…, 1.42…: the unit left goes to the largest fraction, the last part.
    expect(splitProportionally(10n, [3n, 3n, 1n])).toEqual([4n, 4n, 2n])
    expect(splitProportionally(5n, [1n, 1n, 1n])).toEqual([2n, 2n, 1n])
    expect(splitProportionally(7n, [])).toEqual([])
    expect(splitProportionally(7n, [0n, 0n])).toEqual([0n, 0n])
  })

  it('breaks ties for the larger weight, then for the earlier part', () => {
    // 2 of 4 over 1:3 is 0.5 and 1.5: same fraction, the larger weight wins.
    expect(splitProportionally(2n, [1n, 3n])).toEqual([0n, 2n])
    expect(splitProportionally(1n, [2n, 2n])).toEqual([1n, 0n])
  })

  it('always adds up, and no part exceeds its weight while the amount does not exceed the sum', () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 0n, max: 1n << 90n }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (weights, share) => {
          const total = weights.reduce((sum, weight) => sum + weight, 0n)
          const amount = (total * BigInt(Math.floor(share * 1e9))) / 1_000_000_000n
          const parts = splitProportionally(amount, weights)
          expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amount)
          parts.forEach((part, index) => {
            expect(part >= 0n && part <= (weights[index] ?? 0n)).toBe(true)
          })
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('takeProportionally', () => {
  it('reduces every lot and the unattributed part in proportion', () => {
    const held = holder(400n, { A: 300n, B: 300n })
    expect(takeProportionally(held, 500n)).toBe(500n)
    expect(show(held)).toEqual({ unattributed: 200n, A: 150n, B: 150n })
  })

  it('gives ties to the larger lot, then to the lowest id, and to the unattributed part last', () => {
    const equal = holder(1n, { b: 1n, a: 1n })
    takeProportionally(equal, 1n)
    expect(show(equal)).toEqual({ unattributed: 1n, b: 1n, a: 0n })
    takeProportionally(equal, 1n)
    expect(show(equal)).toEqual({ unattributed: 1n, b: 0n, a: 0n })
  })

  it('takes everything when asked for more than there is', () => {
    const held = holder(5n, { A: 5n })
    expect(takeProportionally(held, 11n)).toBe(10n)
    expect(show(held)).toEqual({ unattributed: 0n, A: 0n })
  })
})

describe('a holder under any sequence of gains and losses', () => {
  it('keeps the sum of lots within the balance and nothing negative, dust included', () => {
    const amount = fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 1n << 128n }))
    const step = fc.record({
      kind: fc.constantFrom('add', 'take'),
      amount,
      id: fc.constantFrom(null, 'A', 'B', 'a', 'long_code-1'),
    })
    let cases = 0
    let runs = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 30, maxLength: 60, size: 'max' }), (steps) => {
        runs += 1
        const held = emptyHolder()
        let balance = 0n
        for (const { kind, amount, id } of steps) {
          cases += 1
          if (kind === 'add') {
            addShares(held, amount, id)
            balance += amount
          } else balance -= takeProportionally(held, amount)
          const lots = [...held.lots.values()]
          const sum = lots.reduce((total, lot) => total + lot, 0n)
          const sound = held.shares === balance && sum === held.attributed && sum <= held.shares
          if (!sound || lots.some((lot) => lot < 0n))
            throw new Error(`${kind} ${amount} ${id}: ${sum} of ${held.shares}`)
        }
      }),
      { numRuns: 6_000 },
    )
    // 200,000 steps in all. A run that changes the code draws fewer sequences of the same length.
    expect(cases / runs).toBeGreaterThan(33)
  }, 60_000)
})
