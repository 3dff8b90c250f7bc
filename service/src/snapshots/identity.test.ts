import { describe, expect, it } from 'vitest'
import { findDisagreement, findWithheld, type Identity, isWithheld, type PlacedIdentity } from './identity.js'

const configured: Identity = { asset: '0xaa', receiptToken: '0xbb', assetDecimals: 6, receiptDecimals: 18 }
const other: Identity = { ...configured, asset: '0xcc' }

/** Readings at these blocks; those of `wrong` named another asset. */
function placed(blocks: readonly number[], wrong: readonly number[]): PlacedIdentity[] {
  return blocks.map((blockNumber, at) => ({
    ...(wrong.includes(blockNumber) ? other : configured),
    blockNumber,
    before: blocks[at - 1] ?? null,
    after: blocks[at + 1] ?? null,
  }))
}
const withheld = (blocks: readonly number[], wrong: readonly number[]) => {
  const spans = findWithheld(configured, placed(blocks, wrong))
  return [1, 10, 11, 19, 20, 21, 30, 39, 40, 41].filter((block) => isWithheld(spans, block))
}

describe('what a vault was read to be', () => {
  it('agrees in everything, or says in what it does not, and decimals a token does not say agree with any', () => {
    expect(findDisagreement(configured, configured)).toBeUndefined()
    expect(findDisagreement(configured, { ...configured, assetDecimals: null })).toBeUndefined()
    expect(findDisagreement(configured, other)).toBe('its asset is 0xcc, and 0xaa is configured')
    expect(findDisagreement(configured, { ...configured, receiptToken: '0xdd', receiptDecimals: 0 })).toBe(
      'its share token is 0xdd, and 0xbb is configured; its number of decimals of the share token is 0, and 18 is configured',
    )
  })

  it('withholds nothing while there is no reading, or all agree', () => {
    expect(withheld([], [])).toEqual([])
    expect(withheld([10, 20], [])).toEqual([])
  })

  it('withholds what comes after the last reading that agreed, up to the next one that does', () => {
    expect(withheld([10, 20, 30, 40], [20, 30])).toEqual([11, 19, 20, 21, 30, 39])
    expect(withheld([10, 20, 30, 40], [20])).toEqual([11, 19, 20, 21])
    expect(withheld([10, 20, 30, 40], [40])).toEqual([39, 40, 41])
    expect(withheld([10, 20, 30, 40], [20, 40])).toEqual([11, 19, 20, 21, 39, 40, 41])
  })

  it('withholds everything before a first reading that disagrees', () => {
    expect(withheld([20, 40], [20])).toEqual([1, 10, 11, 19, 20, 21, 30, 39])
    expect(withheld([20], [20])).toEqual([1, 10, 11, 19, 20, 21, 30, 39, 40, 41])
  })
})
