import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recountStream } from '../../../test/recount/naiveStream.js'
import { boosts, histories, type StreamHistory, wallets } from '../../../test/recount/randomStream.js'
import { times } from '../../../test/seed.js'
import { computeAccrual, computeScale, toUnits } from './accrual.js'
import { computeSnapshot } from './amounts.js'
import type { AccrualFacts, AccrualStates, StreamTerms } from './types.js'

const day = 86_400
const [ann, bob] = wallets as [string, string]
const runs = { numRuns: 300 * times }

const terms: StreamTerms = {
  ...{ streamId: '00000000-0000-4000-8000-000000000001', strategy: { type: 3, tokensPerDay: 100n }, adapters: [] },
  ...{ startAt: 0, endAt: 10 * day, budget: 1_000n, increases: [], rewardDecimals: 6 },
}
const facts: AccrualFacts = {
  balances: [{ at: 0, wallet: ann, shares: 3n * 10n ** 18n }],
  ...{ lots: [], rewardPrices: [] },
  sharePrices: [{ at: 0, usd: { numerator: 1n, denominator: 10n ** 18n } }],
}
const rewardsOf = (of: { terms?: Partial<StreamTerms>; facts?: Partial<AccrualFacts> }, to: number) => {
  const { amounts } = computeSnapshot({ ...terms, ...of.terms }, { ...facts, ...of.facts }, to)
  return Object.fromEntries(amounts.wallets.map(({ wallet, rewards }) => [wallet, rewards]))
}

describe('a fixed rate', () => {
  const strategy = { type: 1, tokensPerUsd: 50_000n } as const

  it('pays so many units per 1,000 USD a day, by the newest price at each instant', () => {
    const sharePrices = [
      { at: 0, usd: { numerator: 1_000n, denominator: 10n ** 18n } },
      { at: 2 * day, usd: { numerator: 500n, denominator: 10n ** 18n } },
    ]
    // 3,000 USD for two days, then 1,500 for two.
    expect(rewardsOf({ terms: { strategy, budget: null }, facts: { sharePrices } }, 4 * day)).toEqual({
      [ann]: 450_000n,
    })
  })

  it('pays nothing before the first price, and says how long that was', () => {
    const sharePrices = [{ at: 3 * day, usd: { numerator: 1_000n, denominator: 10n ** 18n } }]
    const { amounts } = computeSnapshot({ ...terms, strategy, budget: null }, { ...facts, sharePrices }, 4 * day)
    expect([amounts.amountDistributed, amounts.unpricedSeconds]).toEqual([150_000n, 3 * day])
  })
})

describe('a fixed APR', () => {
  it('pays value × rate × time in the reward at its price, and shows the rate', () => {
    const strategy = { type: 2, aprE18: 9n * 10n ** 16n } as const
    const rewardPrices = [{ at: 0, usd: { numerator: 2n, denominator: 10n ** 6n } }]
    const sharePrices = [{ at: 0, usd: { numerator: 1_000n, denominator: 10n ** 18n } }]
    const { amounts } = computeSnapshot(
      { ...terms, strategy, budget: null, endAt: null },
      { ...facts, sharePrices, rewardPrices },
      365 * day,
    )
    // 9 % of 3,000 USD are 270 USD: 135 whole units at 2 USD each.
    expect(amounts.wallets[0]?.rewards).toBe(135_000_000n)
    expect([amounts.apr, amounts.baseApr, amounts.rewardTokenPrice, amounts.tvl]).toEqual(['0.09', '0.09', '2', '3000'])
  })
})

describe('a daily budget', () => {
  it('is shared in proportion to what is held, and given in full to the unit at the end', () => {
    const balances = [...facts.balances, { at: 5 * day, wallet: bob, shares: 7n * 10n ** 18n }]
    expect(rewardsOf({ facts: { balances } }, 10 * day)).toEqual({ [ann]: 650n, [bob]: 350n })
    expect(rewardsOf({}, 10 * day)).toEqual({ [ann]: 1_000n })
  })

  it('is nobody’s while nothing weighs anything', () => {
    const balances = [...facts.balances, { at: day, wallet: ann, shares: 0n }, { at: 9 * day, wallet: bob, shares: 1n }]
    expect(rewardsOf({ facts: { balances } }, 10 * day)).toEqual({ [ann]: 100n, [bob]: 100n })
  })

  it('needs no price', () => {
    expect(rewardsOf({ facts: { sharePrices: [] } }, 5 * day)).toEqual({ [ann]: 500n })
  })
})

describe('a budget that runs out', () => {
  const strategy = { type: 1, tokensPerUsd: 100_000n } as const
  const usd = { numerator: 1_000n, denominator: 10n ** 18n }
  const balances = [
    { at: 0, wallet: ann, shares: 10n ** 18n },
    { at: 0, wallet: bob, shares: 2n * 10n ** 18n },
  ]
  const of = { ...terms, strategy, budget: 500_000n, endAt: null }
  const given = { ...facts, balances, sharePrices: [{ at: 0, usd }] }

  it('does so at the exact instant, scales the last interval, and is given to the unit', () => {
    const { amounts } = computeSnapshot(of, given, 30 * day)
    expect(amounts.exhaustedAt).toBe((5 * day) / 3)
    expect(amounts.wallets.map(({ rewards }) => rewards)).toEqual([166_666n, 333_333n])
    expect([amounts.apr, amounts.amountDistributed]).toEqual(['0', 499_999n])
  })

  it('is given to a single wallet without a unit lost, whatever its shares', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        fc.bigInt({ min: 1n, max: 10n ** 30n }),
        (shares, budget) => {
          const alone = [{ at: 0, wallet: ann, shares }]
          const rich = { ...of, budget, strategy: { type: 1, tokensPerUsd: 10n ** 50n } } as const
          const { amounts } = computeSnapshot(rich, { ...given, balances: alone }, 30 * day)
          expect(amounts.amountDistributed).toBe(budget)
        },
      ),
      runs,
    )
  })

  it('goes on from the instant of an increase, never backwards', () => {
    const increases = [{ at: 10 * day, total: 800_000n }]
    const { amounts } = computeSnapshot({ ...of, increases }, given, 11 * day - 1)
    expect(amounts.exhaustedAt).toBeNull()
    expect(computeSnapshot({ ...of, increases }, given, 11 * day).amounts).toMatchObject({
      exhaustedAt: 11 * day,
      wallets: [{ rewards: 266_666n }, { rewards: 533_333n }],
    })
    const late = { ...of, endAt: 10 * day, increases }
    expect(computeSnapshot(late, given, 30 * day).amounts.amountDistributed).toBe(499_999n)
  })

  it('takes no notice of an increase in the second the stream ends', () => {
    const seen = (at: number) => {
      const increased = { ...of, endAt: 10 * day, increases: [{ at, total: 800_000n }] }
      const { exhaustedAt, apr } = computeSnapshot(increased, given, 30 * day).amounts
      return [exhaustedAt, apr]
    }
    expect(seen(10 * day)).toEqual([(5 * day) / 3, '0'])
    expect(seen(10 * day - 1)[0]).toBeNull()
  })

  it('gives the units that are left over to the lower of addresses with equal shares', () => {
    const many = Array.from({ length: 7 }, (_, index) => `0x${String(9 - index).repeat(40)}`)
    const equal = many.map((wallet) => ({ at: 0, wallet, shares: 10n ** 18n }))
    const tiny = { ...of, budget: 1n }
    const { state } = computeAccrual(tiny, { ...given, balances: equal }, 30 * day)
    // Of a unit's parts six are left over by seven.
    const part = computeScale(tiny) / 7n
    expect(many.map((wallet) => (state.accrued.get(wallet) ?? 0n) - part)).toEqual([0n, 1n, 1n, 1n, 1n, 1n, 1n])
  })
})

describe('whole units', () => {
  it('are never given beyond the budget, for many wallets just below a unit', () => {
    const balances = Array.from({ length: 3_000 }, (_, index) => ({
      ...{ at: 0, wallet: `0x${index.toString(16).padStart(40, '0')}`, shares: 10n ** 18n },
    }))
    const strategy = { type: 3, tokensPerDay: 2_999n } as const
    const of = { ...terms, strategy, endAt: day, budget: 2_999n }
    expect(computeSnapshot(of, { ...facts, balances }, day).amounts.amountDistributed).toBe(0n)
    expect(toUnits(10n ** 12n - 10n ** 3n, 10n ** 12n)).toBe(1n)
    expect(toUnits(10n ** 12n - 10n ** 3n - 1n, 10n ** 12n)).toBe(0n)
  })
})

describe('adapters', () => {
  it('list wallets, ask for a balance, and boost wallets or the lots of distributors', () => {
    const balances = wallets.map((wallet, index) => ({ at: 0, wallet, shares: BigInt(index + 1) * 100n }))
    const lots = [{ at: 0, wallet: bob, distributorId: 'alpha', shares: 150n }]
    const paid = (...adapters: StreamTerms['adapters']) =>
      Object.values(
        rewardsOf(
          {
            terms: { adapters, budget: null, strategy: { type: 1, tokensPerUsd: 1_000n } },
            facts: { balances, lots, sharePrices: [{ at: 0, usd: { numerator: 1n, denominator: 1n } }] },
          },
          day,
        ),
      )
    expect(paid()).toEqual([100n, 200n, 300n, 400n, 500n])
    expect(paid({ type: 'allowlist', wallets: [ann, bob] })).toEqual([100n, 200n, 0n, 0n, 0n])
    expect(paid({ type: 'blocklist', wallets: [ann, bob] })).toEqual([0n, 0n, 300n, 400n, 500n])
    expect(paid({ type: 'min-balance', shares: 300n })).toEqual([0n, 0n, 300n, 400n, 500n])
    expect(paid({ type: 'boost', multiplierBps: 15_000, wallets: [ann] })).toEqual([150n, 200n, 300n, 400n, 500n])
    const alpha = { type: 'boost', multiplierBps: 30_000, distributorIds: ['alpha'] } as const
    expect(paid(alpha)).toEqual([100n, 500n, 300n, 400n, 500n])
    expect(paid(alpha, { type: 'boost', multiplierBps: 5_000 })).toEqual([50n, 250n, 150n, 200n, 250n])
    expect(paid({ ...alpha, wallets: [ann] })).toEqual([100n, 200n, 300n, 400n, 500n])
  })

  it('leave the base as it would be without them', () => {
    const { amounts } = computeSnapshot({ ...terms, adapters: [{ type: 'blocklist', wallets: [ann] }] }, facts, day)
    expect(amounts).toMatchObject({ amountDistributed: 0n, tvl: '0', baseTvl: '3', activeUserCount: 0, userCount: 0 })
    expect(amounts.wallets).toMatchObject([{ rewards: 0n, rewardsBase: 100n }])
  })
})

describe('of random streams', () => {
  it('every wallet gets what a recount in fractions gives it', () => {
    fc.assert(
      fc.property(histories, ({ terms, facts, to }) => {
        const { state } = computeAccrual(terms, facts, to)
        const scale = computeScale(terms)
        for (const [wallet, { n, d }] of recountStream(terms, facts, to)) {
          const off = (state.accrued.get(wallet) ?? 0n) * d - n * scale
          // A millionth of the smallest unit.
          expect((off < 0n ? -off : off) * 1_000_000n <= d * scale).toBe(true)
        }
      }),
      runs,
    )
  })

  it('no more than the budget is given, and when it runs out less than a unit a wallet is left', () => {
    fc.assert(
      fc.property(histories, ({ terms, facts, to }) => {
        const { amounts } = computeSnapshot(terms, facts, to)
        const given = amounts.wallets.reduce((sum, { rewards }) => sum + rewards, 0n)
        expect(given).toBe(amounts.amountDistributed)
        const inTime = terms.increases.filter(({ at }) => at <= to && (terms.endAt === null || at < terms.endAt))
        const budget = inTime.at(-1)?.total ?? terms.budget
        if (budget === null) return
        expect(given <= budget).toBe(true)
        const earners = amounts.wallets.filter(({ accrued }) => accrued > 0n).length
        if (amounts.exhaustedAt !== null && budget > 0n) expect(budget - given < BigInt(earners)).toBe(true)
      }),
      runs,
    )
  })

  it('cutting the time in pieces, with what was kept in between, gives the same to the last digit; sums never fall', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.integer({ min: 1, max: 71 * 3_600 }), { maxLength: 4 }), (history, cuts) => {
        const { terms, facts, to } = history
        let states: AccrualStates | undefined
        let known = new Map<string, bigint>()
        for (const at of [...cuts.filter((cut) => cut < to && cut > terms.startAt).sort((a, b) => a - b), to]) {
          const { amounts, states: next } = computeSnapshot(terms, factsUntil(facts, at), at, states)
          const paid = new Map(amounts.wallets.map(({ wallet, rewards }) => [wallet, rewards]))
          for (const [wallet, rewards] of known) expect((paid.get(wallet) ?? 0n) >= rewards).toBe(true)
          known = paid
          states = next
        }
        expect(states).toEqual(computeSnapshot(terms, facts, to).states)
      }),
      runs,
    )
  })

  it('boosts are linear: twice the multiplier is twice the rate of types 1 and 2, and of type 3 the same shares', () => {
    fc.assert(
      fc.property(histories, boosts, (history, boost) => {
        if (boost.type !== 'boost') return
        const everybody = (multiplierBps: number) => {
          const adapters = [...history.terms.adapters, { type: 'boost' as const, multiplierBps }]
          const of = { ...history.terms, adapters, ...(history.terms.strategy.type === 3 ? {} : { budget: null }) }
          return { scale: computeScale(of), ...computeAccrual(of, history.facts, history.to).state }
        }
        const [once, twice] = [everybody(boost.multiplierBps), everybody(2 * boost.multiplierBps)]
        const factor = history.terms.strategy.type === 3 ? 1n : 2n
        for (const [wallet, accrued] of once.accrued) {
          const off = (twice.accrued.get(wallet) ?? 0n) - factor * accrued
          expect((off < 0n ? -off : off) * 1_000_000n <= once.scale).toBe(true)
        }
      }),
      runs,
    )
  })
})

/** Facts up to an instant, each wallet's and each price's. */
function factsUntil(facts: AccrualFacts, to: number): StreamHistory['facts'] {
  const until = <Step extends { at: number }>(steps: readonly Step[]) => steps.filter(({ at }) => at <= to)
  return {
    balances: until(facts.balances),
    lots: until(facts.lots),
    sharePrices: until(facts.sharePrices),
    rewardPrices: until(facts.rewardPrices),
  }
}
