import { describe, expect, it } from 'vitest'
import { computeWorth } from './worth.js'

const native = { decimals: 18, priceUsd: '2000' }
const usdc = (amount: bigint, priceUsd: string | undefined = '1') => ({ amount, decimals: 6, priceUsd })
const unknown = { amount: 10n ** 30n, decimals: 18, priceUsd: undefined }

describe('what a fill is worth', () => {
  it.each([
    ['1,000 dollars are half an ether of 2,000', usdc(10n ** 9n), usdc(10n ** 9n), 5n * 10n ** 17n],
    ['the lesser of both sides counts', usdc(10n ** 9n), usdc(10n ** 6n), 5n * 10n ** 14n],
    ['the other way round too', usdc(10n ** 6n), usdc(10n ** 9n), 5n * 10n ** 14n],
    ['where one has no price the other counts', unknown, usdc(10n ** 6n), 5n * 10n ** 14n],
    ['where none has one it is not known', unknown, unknown, undefined],
    ['a speck is worth nothing', usdc(0n), usdc(10n ** 9n), 0n],
  ])('%s', (_name, sold, bought, expected) => {
    expect(computeWorth(sold, bought, native)).toBe(expected)
  })

  it('is not known where the native token has no price', () => {
    expect(computeWorth(usdc(1n), usdc(1n), { decimals: 18, priceUsd: undefined })).toBeUndefined()
    expect(computeWorth(usdc(1n), usdc(1n), { decimals: 18, priceUsd: '0' })).toBeUndefined()
  })
})
