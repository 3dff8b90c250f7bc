import { describe, expect, it } from 'vitest'
import { createPricing, priceNative } from './pricing.js'

const native = `0x${'ee'.repeat(20)}`
const wrapped = `0x${'aa'.repeat(20)}`

describe('the price of the native token', () => {
  it.each<[string, [string, string][], string | undefined, string | undefined]>([
    [
      'that of the wrapped one where both have a price',
      [
        [native, '1999'],
        [wrapped, '2000'],
      ],
      wrapped,
      '2000',
    ],
    ['that of the wrapped one where it has none itself', [[wrapped, '2000']], wrapped, '2000'],
    ['its own where the wrapped one has none', [[native, '1999']], wrapped, '1999'],
    [
      'its own where the chain names no wrapped one',
      [
        [native, '1999'],
        [wrapped, '2000'],
      ],
      undefined,
      '1999',
    ],
    ['none where neither has one', [], wrapped, undefined],
  ])('is %s', (_case, observed, named, price) => {
    const prices = priceNative(new Map(observed), { native, wrapped: named })
    expect(createPricing(prices, new Map(), true).priceOf(native)).toBe(price)
    expect(prices.get(wrapped)).toBe(new Map(observed).get(wrapped))
  })
})
