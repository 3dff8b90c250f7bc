import { describe, expect, it } from 'vitest'
import { isAsExpected, keepBack } from './redeemed.js'

describe('keepBack', () => {
  it.each([
    [0n, 0n],
    [1n, 0n],
    [2n, 1n],
    [9_999n, 9_998n],
    [10_000n, 9_999n],
    [10_001n, 9_999n],
    [20_000n, 19_998n],
  ])('of %s leaves %s to be swapped: all but one part in ten thousand, rounded up', (assets, swapped) => {
    expect(keepBack(assets)).toBe(swapped)
  })
})

describe('isAsExpected', () => {
  it.each([
    ['is what was expected', 10_000n, 10_000n, true],
    ['is one part in ten thousand more', 9_999n, 10_000n, true],
    ['is more than that', 9_998n, 10_000n, false],
    ['is twice as much', 5_000n, 10_000n, false],
    ['is a unit less', 10_001n, 10_000n, false],
    ['is a unit more and small', 9_998n, 9_999n, false],
    ['was not expected at all', 0n, 10_000n, false],
    ['is nothing, and nothing was expected', 0n, 0n, false],
  ])('swaps the expected amount or all that is sure, where what is sure %s', (_case, expected, sure, same) => {
    expect(isAsExpected(expected, sure)).toBe(same)
  })
})
