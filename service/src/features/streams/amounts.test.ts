import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histories } from '../../../test/recount/randomStream.js'
import { computeSnapshot } from './amounts.js'
import type { AccrualFacts, AccrualStates, StreamTerms } from './types.js'

it('keeps of every wallet what it has earned, with adapters and without: the next snapshot goes on from no less', () => {
  const namesOf = ({ own, base }: AccrualStates) => [...own.accrued.keys(), ...base.accrued.keys()]
  fc.assert(
    fc.property(histories, fc.nat(80), ({ terms, facts, to }, cut) => {
      const { states } = computeSnapshot(terms, facts, terms.startAt + cut * 3_600)
      // Who holds nothing any more is not among the facts that follow.
      const none = { balances: [], lots: [], sharePrices: [], rewardPrices: [] }
      const { amounts, states: later } = computeSnapshot(terms, none, Math.max(to, terms.startAt + cut * 3_600), states)
      expect(later.base.accrued).toEqual(states.base.accrued)
      const kept = new Map(amounts.wallets.map((each) => [each.wallet, each]))
      for (const wallet of namesOf(later)) {
        expect(kept.get(wallet)?.accrued ?? 0n).toBe(later.own.accrued.get(wallet) ?? 0n)
        expect(kept.get(wallet)?.accruedBase ?? 0n).toBe(later.base.accrued.get(wallet) ?? 0n)
      }
    }),
  )
})

describe('TVL and APR of a stream', () => {
  const day = 86_400
  const [ann, bob] = ['0xa', '0xb'] as const
  const usdOf = (dollars: bigint) => ({ numerator: dollars, denominator: 10n ** 6n })
  const terms: StreamTerms = {
    ...{ streamId: 'a', strategy: { type: 1, tokensPerUsd: 1_000n }, adapters: [], startAt: 0, endAt: null },
    ...{ budget: null, increases: [], rewardDecimals: 6 },
  }
  const facts: AccrualFacts = {
    balances: [{ at: 0, wallet: ann, shares: 3_000_000n }],
    ...{ lots: [], rewardPrices: [{ at: 0, usd: usdOf(1n) }] },
    // A sale at half the price of the snapshot.
    sharePrices: [
      { at: 0, usd: usdOf(2n) },
      { at: day, usd: usdOf(1n) },
    ],
  }
  const shownOf = ({ amounts }: ReturnType<typeof computeSnapshot>) => ({
    ...{ tvl: amounts.tvl, baseTvl: amounts.baseTvl, apr: amounts.apr },
    wallets: amounts.wallets.map(({ wallet, tvl, baseTvl }) => [wallet, tvl, baseTvl]),
  })

  it('are shown at the price of the newest snapshot, while a lower one is paid by', () => {
    const found = computeSnapshot(terms, facts, 2 * day, undefined, usdOf(2n))
    expect(shownOf(found)).toMatchObject({ tvl: '6', baseTvl: '6', wallets: [[ann, '6', '6']] })
    // 6 USD for one day and 3 for the next, a thousand units for 1,000 USD.
    expect(found.amounts.amountDistributed).toBe(9n)
    const daily = { ...terms, strategy: { type: 3, tokensPerDay: 6n } } as const
    expect(computeSnapshot(daily, facts, 2 * day, undefined, usdOf(2n)).amounts.apr).toBe('0.000365')
    expect(shownOf(computeSnapshot(terms, facts, 2 * day))).toMatchObject({ tvl: '3' })
  })

  it('count all that is held where the price is not guarded, which is paid by the least', () => {
    const unguarded: AccrualFacts = {
      ...facts,
      balances: [...facts.balances, { at: day + 10, wallet: bob, shares: 5_000_000n }],
      sharePrices: [
        { at: 0, usd: usdOf(2n) },
        { at: day, usd: usdOf(2n), leastSince: 0 },
      ],
    }
    const found = computeSnapshot(terms, unguarded, 2 * day, undefined, usdOf(2n))
    expect(shownOf(found)).toMatchObject({
      ...{ tvl: '16', baseTvl: '16' },
      wallets: [
        [ann, '6', '6'],
        [bob, '10', '10'],
      ],
    })
    expect(found.amounts).toMatchObject({ amountDistributed: 12n, activeUserCount: 1 })
  })
})
