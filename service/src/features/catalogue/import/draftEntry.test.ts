import { describe, expect, it } from 'vitest'
import type { ProbedVault } from '../../../probing/index.js'
import { describeProbe } from './draftEntry.js'

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
