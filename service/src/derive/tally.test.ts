import { describe, expect, it } from 'vitest'
import { openTally } from './tally.js'
import { cutUsdDays } from './usdDays.js'

/** A US dollar for a day, in US dollars × milliseconds of an asset with 6 decimals. */
const day = 86_400_000n * 10n ** 6n

describe('a tally', () => {
  it('cuts each place once, and all of it once, whatever scales are added in which order', () => {
    const third = day / 3n
    for (const scales of [
      [0, 30],
      [30, 0],
    ] as const) {
      const tally = openTally(2)
      for (const scale of scales) {
        tally.add(0, third * 10n ** BigInt(scale), scale)
        tally.add(1, 1n, 40)
      }
      tally.miss({ unpricedMs: 5, unguardedMs: 0 })
      tally.miss({ unpricedMs: 1, unguardedMs: 7 })
      const { total, stretches, ...missed } = tally.cut(6)
      expect(stretches).toEqual([2n * cutUsdDays({ units: third, decimals: 9 }), 0n])
      expect(total).toBe(stretches[0])
      expect(missed).toEqual({ unpricedMs: 6, unguardedMs: 7 })
    }
  })

  it('adds parts of the last digit before it cuts them', () => {
    const tally = openTally(3)
    // A third of 10^-18 of a US dollar × day in each place.
    for (const place of [0, 1, 2]) tally.add(place, day / 3n, 18)
    expect(tally.cut(6)).toMatchObject({ total: 1n, stretches: [0n, 0n, 0n] })
  })

  it('leaves places as they were cut, and cuts all of it by their exact sum', () => {
    const tally = openTally(3)
    tally.addCut(1, [0n, 0n], { total: (day * 2n) / 3n, scale: 18 })
    tally.add(0, day / 3n + 1n, 18)
    expect(tally.cut(6)).toMatchObject({ total: 1n, stretches: [0n, 0n, 0n] })
    tally.addCut(1, [5n, 7n], { total: day * 12n, scale: 18 })
    expect(tally.cut(6)).toMatchObject({ total: 13n, stretches: [0n, 5n, 7n] })
  })
})
