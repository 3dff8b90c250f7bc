import fc from 'fast-check'
import type { AccrualFacts, Adapter, Strategy, StreamTerms } from '../../src/features/streams/types.js'

/** A stream, what happens to it, and when one looks. */
export type StreamHistory = { terms: StreamTerms; facts: AccrualFacts; to: number }

export const wallets = ['a', 'b', 'c', 'd', 'e'].map((letter) => `0x${letter.repeat(40)}`)
const distributors = ['alpha', 'beta']
const hour = 3_600

/** Round numbers, where cutting shows, as often as others. */
const amounts = fc.oneof(
  fc.constantFrom(0n, 1n, 3n, 10n ** 18n, 3n * 10n ** 18n),
  fc.bigInt({ min: 0n, max: 10n ** 24n }),
)
const instants = fc.integer({ min: 0, max: 60 }).map((at) => at * hour)
const fractions = fc.record({
  numerator: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  denominator: fc.constantFrom(10n ** 18n, 10n ** 24n, 7n * 10n ** 20n),
})
const subsets = <T>(of: readonly T[]) => fc.subarray([...of], { minLength: 1 })

const strategies: fc.Arbitrary<Strategy> = fc.oneof(
  fc.record({ type: fc.constant(1 as const), tokensPerUsd: fc.bigInt({ min: 1n, max: 10n ** 20n }) }),
  fc.record({ type: fc.constant(2 as const), aprE18: fc.bigInt({ min: 1n, max: 10n ** 19n }) }),
  fc.record({ type: fc.constant(3 as const), tokensPerDay: fc.bigInt({ min: 1n, max: 10n ** 20n }) }),
)

export const boosts: fc.Arbitrary<Adapter> = fc.record(
  {
    type: fc.constant('boost' as const),
    multiplierBps: fc.integer({ min: 1, max: 100_000 }),
    wallets: subsets(wallets),
    distributorIds: subsets(distributors),
  },
  { requiredKeys: ['type', 'multiplierBps'] },
)

const adapters: fc.Arbitrary<Adapter> = fc.oneof(
  fc.record({ type: fc.constantFrom('allowlist' as const, 'blocklist' as const), wallets: subsets(wallets) }),
  fc.record({ type: fc.constant('min-balance' as const), shares: amounts }),
  boosts,
)

const moves = fc.record({
  at: instants,
  wallet: fc.constantFrom(...wallets),
  shares: amounts,
  // Hundredths of the balance that each distributor sourced.
  parts: fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 40 })),
})

const byTime = <T extends { at: number }>(steps: T[]): T[] => steps.sort((a, b) => a.at - b.at)
const prices = fc.array(fc.record({ at: instants, usd: fractions }), { maxLength: 5 }).map(byTime)

/** Random streams with budgets that last, and that do not. */
export const histories: fc.Arbitrary<StreamHistory> = fc
  .record({
    strategy: strategies,
    adapters: fc.array(adapters, { maxLength: 3 }),
    startAt: fc.integer({ min: 0, max: 10 }).map((at) => at * hour),
    lasts: fc.integer({ min: 1, max: 60 }).map((hours) => hours * hour),
    isOpen: fc.boolean(),
    budget: fc.oneof(amounts, fc.constant(null)),
    increases: fc.array(fc.record({ at: instants, by: amounts }), { maxLength: 2 }).map(byTime),
    moves: fc.array(moves, { minLength: 1, maxLength: 14 }).map(byTime),
    sharePrices: prices,
    rewardPrices: prices,
    to: fc.integer({ min: 10, max: 72 }).map((at) => at * hour + 1_234),
  })
  .map(({ strategy, adapters, startAt, lasts, isOpen, budget, increases, moves, sharePrices, rewardPrices, to }) => {
    const isDaily = strategy.type === 3
    const daily = isDaily ? (strategy.tokensPerDay * BigInt(lasts)) / 86_400n : null
    let total = budget ?? 0n
    const steps = increases.map(({ at, by }) => {
      total += by
      return { at, total }
    })
    return {
      terms: {
        ...{ streamId: '00000000-0000-4000-8000-000000000001', strategy, adapters, startAt, rewardDecimals: 18 },
        endAt: isOpen && !isDaily ? null : startAt + lasts,
        budget: isDaily ? daily : budget,
        increases: isDaily || budget === null ? [] : steps,
      },
      facts: {
        balances: moves.map(({ at, wallet, shares }) => ({ at, wallet, shares })),
        lots: moves.flatMap(({ at, wallet, shares, parts }) =>
          distributors.map((distributorId, index) => ({
            ...{ at, wallet, distributorId },
            shares: (shares * BigInt(parts[index] ?? 0)) / 100n,
          })),
        ),
        sharePrices,
        rewardPrices,
      },
      to,
    }
  })
