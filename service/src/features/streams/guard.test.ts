import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findHoldingsStart, guardHoldings } from './guard.js'
import type { AccrualFacts, BalanceStep, SharePriceStep } from './types.js'

const usd = { numerator: 1n, denominator: 1n }
const [ann, bob] = ['0xa', '0xb'] as const

/** What a wallet has after all steps up to an instant. */
const heldAt = (steps: readonly BalanceStep[], wallet: string, at: number) =>
  steps.findLast((step) => step.wallet === wallet && step.at <= at)?.shares ?? 0n

/** The same by the words of the rule: while a price is not guarded, the least since its snapshot. */
function countAt(facts: AccrualFacts, wallet: string, at: number): bigint {
  const since = facts.sharePrices.findLast((step) => step.at <= at)?.leastSince
  if (since === undefined) return heldAt(facts.balances, wallet, at)
  let least = heldAt(facts.balances, wallet, since)
  for (const step of facts.balances)
    if (step.wallet === wallet && step.at > since && step.at <= at && step.shares < least) least = step.shares
  return least
}

const facts = (balances: BalanceStep[], sharePrices: SharePriceStep[]): AccrualFacts => ({
  ...{ balances, sharePrices, rewardPrices: [] },
  lots: balances.map((step) => ({ ...step, distributorId: 'acme' })),
})

describe('guardHoldings', () => {
  it('counts nothing of who came after the snapshot, the least of who left and came back, and all from the next one on', () => {
    const given = facts(
      [
        { at: 0, wallet: ann, shares: 10n },
        { at: 20, wallet: ann, shares: 4n },
        { at: 40, wallet: bob, shares: 7n },
        { at: 50, wallet: ann, shares: 30n },
      ],
      [
        { at: 10, usd },
        { at: 30, usd, leastSince: 10 },
        { at: 60, usd },
      ],
    )
    const counted = guardHoldings(given)
    const of = (wallet: string) => [25, 35, 45, 55, 60].map((at) => heldAt(counted.balances, wallet, at))
    expect(of(ann)).toEqual([4n, 4n, 4n, 4n, 30n])
    expect(of(bob)).toEqual([0n, 0n, 0n, 0n, 7n])
    expect(counted.lots.map(({ at, shares }) => [at, shares])).toEqual(
      counted.balances.map(({ at, shares }) => [at, shares]),
    )
  })

  it('is the rule in words, whatever moves when', () => {
    const move = fc.record({
      at: fc.integer({ min: 0, max: 40 }),
      wallet: fc.constantFrom(ann, bob),
      shares: fc.bigInt({ min: 0n, max: 9n }),
    })
    const price = fc.record({ at: fc.integer({ min: 0, max: 40 }), isGuarded: fc.boolean(), isSnapshot: fc.boolean() })
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), fc.array(price, { maxLength: 8 }), (moves, drawn) => {
        let [since, wasGuarded] = [0, true]
        const prices = drawn
          .toSorted((a, b) => a.at - b.at)
          .map(({ at, isGuarded, isSnapshot }): SharePriceStep => {
            if (isSnapshot) since = at
            wasGuarded = isSnapshot || (wasGuarded && isGuarded)
            return wasGuarded ? { at, usd } : { at, usd, leastSince: since }
          })
        const given = facts(
          moves.toSorted((a, b) => a.at - b.at),
          prices,
        )
        const counted = guardHoldings(given)
        for (let at = 0; at <= 41; at++)
          for (const wallet of [ann, bob])
            expect([at, heldAt(counted.balances, wallet, at)]).toEqual([at, countAt(given, wallet, at)])
      }),
    )
  })

  it('asks for holdings from the snapshot on where an instant lies in a stretch without a guard', () => {
    const prices = [
      { at: 10, usd },
      { at: 30, usd, leastSince: 10 },
      { at: 60, usd },
    ]
    expect([5, 20, 30, 59, 60].map((at) => findHoldingsStart(prices, at))).toEqual([5, 20, 10, 10, 60])
  })
})
