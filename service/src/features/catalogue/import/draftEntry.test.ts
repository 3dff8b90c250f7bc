import { describe, expect, it } from 'vitest'
import type { ProbedVault } from '../../../probing/index.js'
import { describeProbe, draftEntry } from './draftEntry.js'

const token = (decimals: number) => ({ address: `0x${'11'.repeat(20)}`, decimals, symbol: 'T', name: 'T' })
const probed = (decimals: { asset: number; share: number }, assetsOfOne: bigint) =>
  ({
    ...{ kind: 'erc4626', contracts: {}, escrow: undefined, maxDeposit: undefined, startBlock: 1, notes: [] },
    ...{ asset: token(decimals.asset), receiptToken: token(decimals.share) },
    state: {
      figures: {
        ...{ totalAssets: 1n, totalSupply: 1n },
        priceNumerator: assetsOfOne * 10n ** 12n,
        priceExponent: decimals.share + 12,
      },
    },
  }) as unknown as ProbedVault
const questionOf = (vault: ProbedVault) => describeProbe(vault).filter((line) => line.includes('decimals right'))

describe('what is said of a probed vault', () => {
  it('asks about the decimals where one whole share is worth a million of the asset or more, or a millionth or less', () => {
    expect(questionOf(probed({ asset: 6, share: 18 }, 10n ** 6n))).toEqual([])
    expect(questionOf(probed({ asset: 6, share: 6 }, 1_250_000n))).toEqual([])
    // 18 decimals of shares that are one to one with units of 6 decimals.
    expect(questionOf(probed({ asset: 6, share: 18 }, 10n ** 18n))).toEqual([
      'look at this: one whole share is worth about 10^12 of the asset: are the decimals right?',
    ])
    expect(questionOf(probed({ asset: 18, share: 6 }, 10n ** 6n))).toHaveLength(1)
  })

  it('names the switch of swaps', () => {
    expect(describeProbe(probed({ asset: 6, share: 6 }, 10n ** 6n))).toContainEqual(
      expect.stringContaining('set routedSwapEnabled to true'),
    )
  })
})

describe('the draft of a vault', () => {
  const floorOf = (vault: ProbedVault, price?: string) =>
    draftEntry(1, `0x${'22'.repeat(20)}`, vault, price).opportunities?.[0]?.vault.lpFloor
  const full = (vault: ProbedVault) => {
    Object.assign(vault.state.figures ?? {}, { totalSupply: 10n ** 12n })
    return vault
  }

  it('has an LP floor of a cent’s worth where the price of its asset is known, by the price of a share that can be believed', () => {
    const vault = full(probed({ asset: 6, share: 6 }, 1_250_000n))
    expect(floorOf(vault)).toBeUndefined()
    // A cent is 10,000 units of a dollar, which are 8,000 of a share at 1.25; 4.37 units of an asset at 1830.25 dollars.
    expect(floorOf(vault, '1')).toEqual([{ shares: '8000' }])
    expect(floorOf(vault, '1830.25')).toEqual([{ shares: '5' }])
    // With one unit of supply the price of a share is anybody's: one to one.
    expect(floorOf(probed({ asset: 6, share: 18 }, 10n ** 9n), '1')).toEqual([{ shares: `1${'0'.repeat(16)}` }])
  })
})
