import { describe, expect, it } from 'vitest'
import { computeLpFloor } from './lpFloor.js'

const usd = { assetDecimals: 6, receiptDecimals: 18, priceUsd: '1', dustFloor: '1000' }
const figures = (price: bigint, totalSupply = 10n ** 24n) => ({ totalSupply, priceNumerator: price, priceExponent: 30 })

describe('the floor of a new vault', () => {
  it.each<[string, Partial<Parameters<typeof computeLpFloor>[0]>, bigint | undefined]>([
    // A cent is 10,000 units of the asset, and 10^16 shares at a price of 1.
    ['a cent of a dollar at a price of 1', { figures: figures(10n ** 18n) }, 10n ** 16n],
    // 10^16 / 1.25 = 8 × 10^15.
    ['by the price of the vault', { figures: figures(1_250_000_000_000_000_000n) }, 8n * 10n ** 15n],
    // 10^16 / 1.2 = 8.33 × 10^15.
    ['rounded up to one figure', { figures: figures(1_200_000_000_000_000_000n) }, 9n * 10n ** 15n],
    ['one to one where the supply is dust', { figures: figures(10n ** 30n, 999n) }, 10n ** 16n],
    ['by the price where the supply is just enough', { figures: figures(10n ** 19n, 1_000n) }, 10n ** 15n],
    ['one to one where the vault answers nothing', { figures: undefined }, 10n ** 16n],
    // 100,000 dollars: 0.01 / 100,000 of 10^8 units are 10.
    ['of a dear asset', { assetDecimals: 8, receiptDecimals: 8, priceUsd: '100000', figures: undefined }, 10n],
    ['at least a unit', { assetDecimals: 0, receiptDecimals: 0, priceUsd: '5000', figures: undefined }, 1n],
    ['rounded up to ten', { assetDecimals: 0, receiptDecimals: 1, priceUsd: '1', figures: undefined }, 10n],
    ['none without a price', { priceUsd: '0', figures: undefined }, undefined],
  ])('is %s', (_name, of, expected) => {
    expect(computeLpFloor({ ...usd, figures: undefined, ...of })).toBe(expected)
  })
})
