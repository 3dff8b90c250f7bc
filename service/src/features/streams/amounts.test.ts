import fc from 'fast-check'
import { expect, it } from 'vitest'
import { histories } from '../../../test/recount/randomStream.js'
import { computeSnapshot } from './amounts.js'
import type { AccrualStates } from './types.js'

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
