import { describe, expect, it } from 'vitest'
import {
  type Case,
  computeRetryAt,
  decideCost,
  decideTry,
  usualLimits as defaults,
  noStanding,
  type Risked,
  type Standing,
  type Subject,
  type SubjectKind,
  sumStandings,
} from './guard.js'

const now = 1_800_000_000
const usualLimits = { ...defaults, riskPercent: 20 }
const ether = 10n ** 18n
const kinds: SubjectKind[] = ['order', 'owner', 'organization', 'pool']
const calm: Case = {
  ...{ isRisky: false, isContract: false, areListed: true, fills: [], riskedByAll: 0n },
  ...{ lostByAll: 0n, hasReverted: false, hasFilled: false },
  standings: kinds.map((kind) => ({ kind, key: kind, standing: noStanding })),
}
const risky: Case = { ...calm, isRisky: true }
const offender: Case = { ...calm, hasReverted: true }
const ofAny: Case = { ...risky, areListed: false }
const withStanding = (base: Case, kind: SubjectKind, standing: Partial<Standing>): Case => ({
  ...base,
  standings: base.standings.map((each) =>
    each.kind === kind ? { ...each, standing: { ...noStanding, ...standing } } : each,
  ),
})
const failed = (failures: number) => ({ failures, lastFailedAt: now })
const reverted = (reverts: number) => ({ reverts, lastRevertedAt: now })

describe('whether an offer is tried', () => {
  it.each<[string, Case, 'yes' | 'waits' | 'tooDear' | 'noRoute', object?]>([
    ['one that nothing is known of', calm, 'yes'],
    ['a risky one that nothing is known of', risky, 'yes'],
    ['of tokens that are not listed', { ...risky, areListed: false }, 'noRoute'],
    ['the same where only priced ones are', { ...risky, areListed: false }, 'noRoute', { tokens: 'priced' }],
    ['the same where the operator takes any', { ...risky, areListed: false }, 'yes', { tokens: 'any' }],
    ['at the next block after a first try in vain', withStanding(calm, 'order', failed(1)), 'yes'],
    ['after a second one', withStanding(calm, 'order', failed(2)), 'waits'],
    ['whose owner’s others fail', withStanding(calm, 'owner', failed(50)), 'yes'],
    ['whose pool fails', withStanding(calm, 'pool', failed(50)), 'yes'],
    ['whose organization’s others fail', withStanding(calm, 'organization', failed(500)), 'yes'],
    ['a risky one whose owner’s others fail', withStanding(risky, 'owner', failed(5)), 'waits'],
    ['a risky one whose pool of listed tokens fails', withStanding(risky, 'pool', failed(90)), 'yes'],
    ['one of any token whose pool fails', withStanding(ofAny, 'pool', failed(9)), 'waits', { tokens: 'any' }],
    ['the same whose pool failed less', withStanding(ofAny, 'pool', failed(8)), 'yes', { tokens: 'any' }],
    ['a risky one whose organization’s others fail', withStanding(risky, 'organization', failed(500)), 'yes'],
    ['whose settlement reverted', withStanding(calm, 'order', reverted(1)), 'waits'],
    ['whose owner’s settlement reverted', withStanding(calm, 'owner', reverted(1)), 'waits'],
    ['whose pool’s settlements reverted', withStanding(calm, 'pool', reverted(9)), 'yes'],
    ['a risky one whose pool’s settlements reverted', withStanding(risky, 'pool', reverted(2)), 'waits'],
    ['a risky one whose organization’s settlements reverted', withStanding(risky, 'organization', reverted(40)), 'yes'],
    ['that was filled eleven times in an hour', { ...calm, fills: Array(11).fill(now) }, 'yes'],
    ['that was filled twelve times in an hour', { ...calm, fills: Array(12).fill(now) }, 'tooDear'],
    ['while the day’s risk is used up', { ...calm, riskedByAll: ether }, 'yes'],
    ['a calm one while a unit of the day’s loss is left', { ...calm, lostByAll: ether / 4n - 1n }, 'yes'],
    ['a calm one while the day’s loss is used up', { ...calm, lostByAll: ether / 4n }, 'tooDear'],
    ['one of an owner with a fill, for all that', { ...calm, lostByAll: ether, hasFilled: true }, 'yes'],
    ['a risky one while the day’s loss is used up', { ...risky, lostByAll: ether }, 'yes'],
    ['one of an owner with a revert', offender, 'yes'],
    ['the same while the day’s risk is used up', { ...offender, riskedByAll: ether }, 'yes'],
    ['the same while reverts cost as much as may be risked', { ...offender, lostByAll: ether / 5n }, 'tooDear'],
    ['the same while reverts cost a unit less', { ...offender, lostByAll: ether / 5n - 1n }, 'yes'],
    ['the same whose others fail', withStanding(offender, 'owner', failed(5)), 'waits'],
    ['the same whose organization’s settlements reverted', withStanding(offender, 'organization', reverted(40)), 'yes'],
    ['a risky one while the day’s risk is used up', { ...risky, riskedByAll: ether / 5n }, 'tooDear'],
    ['a risky one while a unit of it is left', { ...risky, riskedByAll: ether / 5n - 1n }, 'yes'],
    ['a risky one whose order used its share', withStanding(risky, 'order', { risked: ether / 100n }), 'tooDear'],
    ['a risky one whose order did not', withStanding(risky, 'order', { risked: ether / 100n - 1n }), 'yes'],
    ['a risky one whose owner used its share', withStanding(risky, 'owner', { risked: ether / 50n }), 'tooDear'],
    ['a risky one whose pool used its share', withStanding(risky, 'pool', { risked: ether / 25n }), 'tooDear'],
    [
      'a risky one whose organization did',
      withStanding(risky, 'organization', { risked: (2n * ether) / 25n }),
      'tooDear',
    ],
    ['a calm one whose organization did', withStanding(calm, 'organization', { risked: ether }), 'yes'],
    ['a risky one where nothing may be risked', risky, 'tooDear', { riskPercent: 0 }],
    ['a calm one where nothing may be risked', calm, 'yes', { riskPercent: 0 }],
  ])('%s: %#', (_name, given, expected, limits = {}) => {
    const verdict = decideTry(given, { ...usualLimits, ...limits }, now)
    expect(verdict.may ? 'yes' : (verdict.outcome ?? 'waits')).toBe(expected)
  })

  it('waits longer after each try in vain, half an hour at most, and after each revert', () => {
    const waitOf = (kind: SubjectKind, standing: Partial<Standing>, isRisky = true) =>
      Math.max(
        0,
        computeRetryAt(kind, { ...noStanding, ...standing }, { isRisky, hasReverted: false, areListed: true }) - now,
      )
    expect([1, 2, 3, 4, 9, 10, 60, 2_000].map((count) => waitOf('order', failed(count), false))).toEqual([
      0, 15, 30, 60, 1_800, 1_800, 1_800, 1_800,
    ])
    expect([1, 2, 3, 4].map((count) => waitOf('owner', reverted(count), false))).toEqual([60, 10_800, 86_400, 86_400])
    expect([1, 2, 3, 9].map((count) => waitOf('pool', reverted(count)))).toEqual([0, 60, 600, 21_600])
    expect([1, 4, 90].map((count) => waitOf('organization', reverted(count)))).toEqual([0, 0, 0])
  })
})

describe('whether a settlement is paid for', () => {
  const costs = { cost: 10n ** 16n, signedCost: 10n ** 16n, costMax: 2n * 10n ** 16n, worth: undefined }
  it.each<[string, Partial<Parameters<typeof decideCost>[0]>, Partial<Case>, object, bigint | string]>([
    ['what is signed for the cap is', { signedCost: costs.costMax }, {}, {}, costs.costMax],
    ['a unit above the cap is not', { signedCost: costs.costMax + 1n }, {}, {}, 'may cost'],
    ['worth its gas is', { worth: costs.cost }, {}, {}, costs.costMax],
    ['worth a unit less is not', { worth: costs.cost - 1n }, {}, {}, 'is worth'],
    ['worth twice its gas is, where twice is asked', { worth: 2n * costs.cost }, {}, { worthFactor: 2 }, costs.costMax],
    ['worth a unit less than that is not', { worth: 2n * costs.cost - 1n }, {}, { worthFactor: 2 }, 'is worth'],
    ['worth nothing is, where nothing is asked', { worth: 0n }, {}, { worthFactor: 0 }, costs.costMax],
    ['of which no price tells is not, where one has to', {}, {}, { tokens: 'priced' }, 'no price'],
    [
      'risky may cost twice what it costs now',
      { cost: 10n ** 15n, signedCost: 10n ** 15n },
      { isRisky: true },
      {},
      2n * 10n ** 15n,
    ],
    ['of a contract wallet may cost twice, too', { cost: 10n ** 15n }, { isContract: true }, {}, 2n * 10n ** 15n],
    ['of a contract wallet never more than the cap', {}, { isContract: true }, {}, costs.costMax],
    ['risky never more than the cap', {}, { isRisky: true }, {}, costs.costMax],
    [
      'risky never more than is left of the day',
      {},
      { isRisky: true, riskedByAll: ether / 5n - 11n * 10n ** 15n },
      {},
      11n * 10n ** 15n,
    ],
    [
      'risky is not, where less is left than is signed',
      { signedCost: 10n ** 16n + 1n },
      { isRisky: true, riskedByAll: ether / 5n - 10n ** 16n },
      {},
      'used up',
    ],
    [
      'risky is not, where less is left than it costs',
      {},
      { isRisky: true, riskedByAll: ether / 5n - 9n * 10n ** 15n },
      {},
      'used up',
    ],
    [
      'of an owner with a revert never more than other reverts leave of it',
      {},
      { hasReverted: true, riskedByAll: ether, lostByAll: ether / 5n - 11n * 10n ** 15n },
      {},
      11n * 10n ** 15n,
    ],
  ])('%s', (_name, cost, of, limits, expected) => {
    const verdict = decideCost({ ...costs, ...cost }, { ...calm, ...of }, { ...usualLimits, ...limits })
    if (typeof expected === 'bigint') expect(verdict).toEqual({ may: true, costMax: expected })
    else expect(verdict).toEqual({ may: false, why: expect.stringContaining(expected) })
  })
})

it('counts what settlements cost, and which reverted, against their order, owner, organization and pools, each once', () => {
  const of = (order: string, pools: string[]): Subject[] => [
    { kind: 'order', key: order },
    { kind: 'owner', key: 'x' },
    ...pools.map((key) => ({ kind: 'pool', key }) as const),
  ]
  const unlisted = { isRisky: true, isListed: false }
  const risked: Risked[] = [
    { ...unlisted, subjects: of('1', ['p', 'q']), spent: 5n, isReverted: true, closedAt: 70 },
    { ...unlisted, subjects: of('2', ['p', 'p']), spent: 3n, isReverted: true, closedAt: 60 },
    { ...unlisted, subjects: of('1', ['q']), spent: 2n, isReverted: false, closedAt: undefined },
  ]
  const { standingOf, riskedByAll, lostByAll } = sumStandings(
    risked,
    new Map([['owner x', { failures: 4, lastFailedAt: 9 }]]),
  )
  expect([riskedByAll, lostByAll]).toEqual([10n, 0n])
  expect(standingOf({ kind: 'order', key: '1' })).toEqual({ ...noStanding, risked: 7n, reverts: 1, lastRevertedAt: 70 })
  expect(standingOf({ kind: 'owner', key: 'x' })).toEqual({
    ...{ failures: 4, lastFailedAt: 9, risked: 10n, reverts: 2, lastRevertedAt: 70 },
  })
  expect(standingOf({ kind: 'pool', key: 'p' })).toEqual({ ...noStanding, risked: 8n, reverts: 2, lastRevertedAt: 70 })
  expect(standingOf({ kind: 'pool', key: 'r' })).toEqual(noStanding)
})

it.each([
  ['of a key with listed tokens', { isRisky: false, isListed: true }, { order: 1, owner: 1 }, 0n, 9n],
  [
    'of a contract wallet nobody vouches for',
    { isRisky: true, isListed: true },
    { order: 1, owner: 1, organization: 1 },
    9n,
    0n,
  ],
  [
    'with a token that is not listed',
    { isRisky: true, isListed: false },
    { order: 1, owner: 1, organization: 1, pool: 1 },
    9n,
    0n,
  ],
])(
  'a reverted settlement %s counts against those who chose how it ends, and no others',
  (_, kind, counted, risked, lost) => {
    const subjects = (['order', 'owner', 'organization', 'pool'] as const).map((each) => ({ kind: each, key: 'x' }))
    const { standingOf, riskedByAll, lostByAll } = sumStandings(
      [{ ...kind, subjects, spent: 9n, isReverted: true, closedAt: 70 }],
      new Map(),
    )
    expect([riskedByAll, lostByAll]).toEqual([risked, lost])
    for (const subject of subjects) {
      const reverts = (counted as Partial<Record<SubjectKind, number>>)[subject.kind] ?? 0
      const lastRevertedAt = reverts === 0 ? 0 : 70
      expect([subject.kind, standingOf(subject)]).toEqual([
        subject.kind,
        { ...noStanding, risked, reverts, lastRevertedAt },
      ])
    }
  },
)
