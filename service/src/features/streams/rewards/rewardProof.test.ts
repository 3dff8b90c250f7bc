import { describe, expect, it } from 'vitest'
import { type StreamHistory, wallets } from '../../../../test/recount/randomStream.js'
import {
  contract,
  factory,
  findOf,
  moveEarned,
  snapshotsOf,
  stranger,
  token,
  vault,
  write,
} from '../../../../test/rewardFiles.js'
import { computeSnapshot } from '../amounts.js'
import { hashTerms, type RewardInputs, type RewardResult, toResult } from './rewardFile.js'
import { type FoundRewards, judgeRewards, type RewardFile, sortFiles } from './rewardProof.js'

/** Two units a second for two days to two holders, in three files; all of it on the chain. */
const day = 86_400
const plain: StreamHistory = {
  terms: {
    ...{
      streamId: '00000000-0000-4000-8000-000000000001',
      strategy: { type: 3, tokensPerDay: 172_800n },
      adapters: [],
    },
    ...{ startAt: day, endAt: 3 * day, budget: 345_600n, increases: [], rewardDecimals: 18 },
  },
  facts: {
    balances: [
      { at: day, wallet: wallets[0] ?? '', shares: 100n },
      { at: 2 * day, wallet: wallets[1] ?? '', shares: 300n },
    ],
    ...{ lots: [], sharePrices: [], rewardPrices: [] },
  },
  to: 3 * day,
}

describe('judgeRewards', () => {
  const snapshots = snapshotsOf(plain, 3)
  const files = write(snapshots)
  const [one, two, three] = files as [RewardFile, RewardFile, RewardFile]
  const found = findOf(snapshots, files)
  const stream = found.stream!
  const terms = hashTerms(one.inputs)
  const judge = (
    {
      stream: changed,
      ...changes
    }: Partial<Omit<FoundRewards, 'stream'>> & { stream?: Partial<FoundRewards['stream']> } = {},
    of: readonly RewardFile[] = files,
    known: string | undefined = terms,
  ) => {
    const told = judgeRewards(of, { found: { ...found, ...changes, stream: { ...stream, ...changed } }, terms: known })
    return { problems: told.files.map(({ problems }) => problems), believed: told.believed, terms: told.terms }
  }
  /** What is wrong is told of one file alone. */
  const only = (at: number, ...problems: unknown[]) => files.map((_, index) => (index === at ? problems : []))
  const each = (problem: unknown) => files.map(() => [problem])
  const rewrite = (
    at: number,
    change: (inputs: RewardInputs) => RewardInputs,
    of: readonly RewardInputs[] = snapshots,
  ) => write(of.map((inputs, index) => (index >= at ? change(inputs) : inputs)))

  it('takes what is whole, is the chain’s and has terms that are known, and believes nothing', () => {
    expect(judge()).toEqual({ problems: [[], [], []], believed: [], terms })
    expect(judgeRewards(sortFiles([three, one, two]), { found, terms }).files.map(({ name }) => name)).toEqual([
      ...['file 0', 'file 1', 'file 2'],
    ])
  })

  it('by hand: 2 units a second, shared 1 to 3 from the second day on', () => {
    expect(
      judgeRewards(files)
        .files.at(-1)
        ?.leaves.map(({ cumulative }) => cumulative),
    ).toEqual([172_800n + 43_200n, 129_600n])
  })

  it('names what it believes where nothing proves it', () => {
    const words =
      '172800 units a day, by 0x4444444444444444444444444444444444444444 on chain 1, from 1970-01-02T00:00:00Z to 1970-01-04T00:00:00Z, 0 adapters'
    expect(judgeRewards(files)).toMatchObject({
      believed: [
        `the terms ${terms}: ${words}`,
        'holders and blocks: no node was asked',
        'budget and roots: no node of the chain that pays was asked',
      ],
    })
    expect(
      judgeRewards([two, three], { found: { ...found, snapshots: found.snapshots.slice(1) }, terms }).believed,
    ).toEqual([`the earnings of everybody by 1970-01-02T16:00:00Z: the file ${one.hash} is not given`])
    expect(judgeRewards(files, { found: { ...found, stream: undefined }, terms }).believed).toEqual([
      'budget and roots: no node of the chain that pays was asked',
    ])
    for (const [type, priced] of [
      [1, ['the prices of a share']],
      [2, ['the prices of a share', 'the prices of the reward']],
    ] as const) {
      const strategy = type === 1 ? { type, tokensPerUsd: 1n } : { type, aprE18: 1n }
      const other = { ...plain, terms: { ...plain.terms, strategy } }
      const of = snapshotsOf(other, 1)
      const written = write(of)
      expect(judgeRewards(written, { found: findOf(of, written), terms: hashTerms(of[0]!) }).believed).toEqual(priced)
    }
  })

  it('refuses terms that are not those that are known', () => {
    expect(judge({}, files, `0x${'0'.repeat(64)}`).problems).toEqual(
      only(2, `the terms are ${terms}, and not 0x${'0'.repeat(64)}`),
    )
  })

  it('refuses a file that does not go on from the one before', () => {
    const skipped = judgeRewards([one, three], {
      found: { ...found, snapshots: [found.snapshots[0]!, found.snapshots[2]!] },
      terms,
    })
    expect(skipped.files.map(({ problems }) => problems)).toEqual([
      [],
      expect.arrayContaining([
        `it goes on from the file ${two.hash}, and the file before it is ${one.hash}`,
        'the earnings before it are not those that the file before comes to',
        `the contract holds the root ${two.result.root} of 1970-01-03T08:00:00Z, of which no file is given`,
      ]),
    ])
    for (const previous of [null, `0x${'1'.repeat(64)}`]) {
      const file = { ...one, inputs: { ...one.inputs, origin: { ...one.inputs.origin, previous } } }
      const other =
        previous === null ? { ...two, inputs: { ...two.inputs, origin: { ...two.inputs.origin, previous } } } : file
      expect(judgeRewards([other], {}).files[0]?.problems).toEqual([
        'it has earnings before it and names no file of them, or names one and has none',
      ])
    }
    const backwards = { ...one, inputs: { ...one.inputs, to: plain.terms.startAt } }
    expect(judgeRewards([backwards], {}).files[0]?.problems).toContain('it ends before it begins')
  })

  it('refuses the half of what everybody had earned, moved to somebody who never held a share', () => {
    const forged = write(snapshots, (from, index) =>
      index === 2 ? { own: moveEarned(from.own), base: moveEarned(from.base) } : from,
    )
    const [, , last] = judge({ stream: findOf(snapshots, forged).stream }, forged).problems
    expect(forged[2]?.result.leaves.find(({ wallet }) => wallet === stranger)?.cumulative).toBeGreaterThan(100_000n)
    expect(last).toContain('the earnings before it are not those that the file before comes to')
  })

  it.each([
    ['a rate', { strategy: { type: 3, tokensPerDay: 172_801n } }],
    ['an adapter', { adapters: [{ type: 'blocklist', wallets: [stranger] }] }],
    ['a start', { startAt: day - 1 }],
    ['a budget', { budget: 345_601n }],
  ] as [string, Partial<RewardInputs['terms']>][])(
    'refuses %s that changes from one file to the next',
    (_what, change) => {
      const other = rewrite(1, (inputs) => ({ ...inputs, terms: { ...inputs.terms, ...change } }))
      expect(judge({}, other).problems[1]).toContain('its terms are not those of the file before')
    },
  )

  it('lets an operator end a stream early, and says so; never later, and never before what was counted', () => {
    const end = (endAt: number | null) => rewrite(2, (inputs) => ({ ...inputs, terms: { ...inputs.terms, endAt } }))
    const open = { ...plain, terms: { ...plain.terms, endAt: 4 * day } }
    const of = snapshotsOf({ ...open, to: 3 * day }, 3)
    const early = rewrite(2, (inputs) => ({ ...inputs, terms: { ...inputs.terms, endAt: 3 * day } }), of)
    expect(judgeRewards(early, { found: findOf(of, early), terms: hashTerms(of[0]!) })).toMatchObject({
      files: [{ problems: [] }, { problems: [] }, { problems: [] }],
      believed: ['that the stream was ended early, at 1970-01-04T00:00:00Z'],
    })
    for (const endAt of [null, 3 * day + 1, 3 * day - 1])
      expect(judge({}, end(endAt)).problems[2]).toContain('it ends later than the file before says')
  })

  it('refuses another block than the last one by the instant, and an instant the chain has not passed', () => {
    const other = (block: { number: number; hash: string } | undefined) =>
      judge({ snapshots: found.snapshots.map((snapshot, index) => (index === 1 ? { ...snapshot, block } : snapshot)) })
        .problems
    const { number, hash } = two.inputs.origin.block
    for (const block of [
      { number: number + 1, hash },
      { number, hash: `0x${'a'.repeat(64)}` },
    ])
      expect(other(block)).toEqual(
        only(1, expect.stringContaining(`is ${block.number} ${block.hash} at the node, and ${number} ${hash} in`)),
      )
    expect(other(undefined)).toEqual(only(1, 'the chain has not come past 1970-01-03T08:00:00Z at the node'))
  })

  it('refuses holders the node does not tell of, though the root is the same', () => {
    const ghost = { at: 2 * day + 28_800, wallet: stranger, shares: 10n ** 30n }
    const withGhost = rewrite(1, (inputs) => inputs)
    const [, forged] = withGhost as [RewardFile, RewardFile]
    const inputs = {
      ...forged.inputs,
      facts: { ...forged.inputs.facts, balances: [...forged.inputs.facts.balances, ghost] },
    }
    expect(toResult(computeSnapshot(inputs.terms, inputs.facts, inputs.to, inputs.from).amounts.wallets).root).toBe(
      two.result.root,
    )
    expect(judge({}, [one, { ...forged, inputs }, three]).problems[1]).toEqual([
      'its holders are not those that the node tells',
    ])
  })

  it('does not care in which words the same changes are told', () => {
    const [, second] = found.snapshots
    const told = [...second!.balances, { at: 2 * day, wallet: wallets[1] ?? '', shares: 300n }]
    const twice = [{ at: 2 * day, wallet: wallets[1] ?? '', shares: 7n }, ...told].sort((a, b) => a.at - b.at)
    expect(
      judge({ snapshots: [found.snapshots[0]!, { ...second!, balances: twice }, found.snapshots[2]!] }).problems,
    ).toEqual([[], [], []])
  })

  it('refuses to leave out who is no contract, and believes of other contracts that they hold for nobody', () => {
    const own = [vault, stranger]
    const of = snapshots.map((inputs) => ({
      ...inputs,
      origin: { ...inputs.origin, target: { ...inputs.origin.target, own } },
    }))
    const written = write(of)
    const told = (codeless: string[]) =>
      judgeRewards(written, { found: { ...findOf(of, written), codeless: new Set(codeless) }, terms })
    expect(told([stranger]).files.map(({ problems }) => problems)).toEqual(
      each(`${stranger} is left out and is no contract`),
    )
    expect(told([])).toMatchObject({ believed: [`that ${stranger} holds shares of nobody`] })
  })

  it('refuses amounts or a root that are not what the file comes to', () => {
    const [leaf, ...others] = three.result.leaves
    const results: [Partial<RewardResult>, string][] = [
      [{ root: `0x${'7'.repeat(64)}` }, `its root is 0x${'7'.repeat(64)}`],
      [{ root: null }, 'its root is none'],
      [{ total: 1n }, 'its amounts are not those of its root'],
      [{ leaves: others }, 'its amounts are not those of its root'],
      [{ leaves: [{ ...leaf!, cumulative: 1n }, ...others] }, 'its amounts are not those of its root'],
    ]
    for (const [change, problem] of results)
      expect(judge({}, [one, two, { ...three, result: { ...three.result, ...change } }]).problems[2]).toContain(problem)
  })

  it.each([
    ['no such stream at the factory', { creation: undefined }, `the factory ${factory} made no stream of this id`],
    [
      'another contract',
      { creation: { contract: stranger, rewardToken: token, netAmount: 345_600n } },
      `the contract of the stream is ${stranger}, and not ${contract}`,
    ],
    [
      'another token',
      { creation: { contract, rewardToken: stranger, netAmount: 345_600n } },
      `the stream pays ${stranger}, not ${token}`,
    ],
    [
      'another budget',
      { creation: { contract, rewardToken: token, netAmount: 345_601n } },
      'the stream was given 345601, and the file says 345600',
    ],
    ['another factory', { factory: stranger }, `the contract names another factory than ${factory}`],
    ['no factory', { factory: undefined }, `the contract names another factory than ${factory}`],
    ['other decimals', { rewardDecimals: 6 }, 'the token that is paid has other decimals'],
    [
      'an increase no file names',
      { increases: [{ at: day, total: 1n }] },
      'the increases of the budget are not those of the contract',
    ],
  ] as [string, Partial<NonNullable<FoundRewards['stream']>>, string][])(
    'refuses where the chain tells of %s',
    (_what, told, problem) => {
      expect(judge({ stream: told }).problems).toEqual(each(problem))
    },
  )

  it('takes the increases of the contract, those after the last instant named or not', () => {
    const increases = [
      { at: 2 * day, total: 345_601n },
      { at: 5 * day, total: 345_602n },
    ]
    const of = (named: typeof increases) =>
      rewrite(0, (inputs) => ({ ...inputs, terms: { ...inputs.terms, increases: named } }))
    const told = (named: typeof increases) => judge({ stream: { increases } }, of(named)).problems
    expect(told(increases)).toEqual([[], [], []])
    expect(told(increases.slice(0, 1))).toEqual([[], [], []])
    expect(told([])).toEqual([[], ...each('the increases of the budget are not those of the contract').slice(1)])
    expect(told(increases.map((step) => ({ ...step, total: step.total + 1n })))).toEqual(
      each('the increases of the budget are not those of the contract'),
    )
    const late = rewrite(0, (inputs) => ({
      ...inputs,
      terms: { ...inputs.terms, increases: inputs.to > 2 * day ? [] : increases },
    }))
    expect(judge({ stream: { increases } }, late).problems[1]).toContain(
      'an increase of the budget that the file before names is missing',
    )
  })

  it('holds every root of the contract against a file, and says which root it holds instead', () => {
    const roots = (change: (roots: typeof stream.roots) => typeof stream.roots) =>
      judge({ stream: { roots: change(stream.roots) } })
    const other = `0x${'9'.repeat(64)}`
    expect(roots((all) => all.map((root, i) => (i === 1 ? { ...root, root: other } : root))).problems).toEqual(
      only(1, `the contract holds the root ${other} with ${two.result.total} for this instant`),
    )
    expect(roots((all) => all.map((root, i) => (i === 1 ? { ...root, total: 1n } : root))).problems).toEqual(
      only(1, `the contract holds the root ${two.result.root} with 1 for this instant`),
    )
    expect(roots((all) => [{ at: day + 1, root: other, total: 1n }, ...all]).problems).toEqual(
      only(2, `the contract holds the root ${other} of 1970-01-02T00:00:01Z, of which no file is given`),
    )
    expect(roots((all) => all.slice(0, 2))).toMatchObject({
      ...{ problems: [[], [], []], believed: ['the root of 1970-01-04T00:00:00Z: it is not committed'] },
    })
    expect(roots((all) => [...all, { at: 9 * day, root: other, total: 1n }])).toMatchObject({
      ...{
        problems: [[], [], []],
        believed: ['the newer root of 1970-01-10T00:00:00Z in the contract: no file of it is given'],
      },
    })
    // One that does not change is not committed anew.
    const still = snapshotsOf({ ...plain, terms: { ...plain.terms, budget: 10n } }, 3)
    const written = write(still)
    expect(
      judgeRewards(written, { found: findOf(still, written.slice(0, 1)), terms: hashTerms(still[0]!) }),
    ).toMatchObject({
      ...{ files: written.map(() => ({ problems: [] })), believed: [] },
    })
  })

  it('says of points that no chain holds their roots, and takes no increase of them', () => {
    const points = (change: Partial<RewardInputs['terms']>) =>
      write(
        snapshots.map((inputs) => ({
          ...{ ...inputs, terms: { ...inputs.terms, ...change } },
          origin: { ...inputs.origin, reward: { pointId: 'P' } },
        })),
      )
    const told = (of: readonly RewardFile[]) =>
      judgeRewards(of, { found: { ...found, stream: undefined }, terms: hashTerms(of[0]!.inputs) })
    expect(told(points({})).believed).toEqual(['every root: points are on no chain'])
    expect(told(points({ increases: [{ at: day, total: 1n }] })).files[0]?.problems).toEqual([
      'a budget of points is never increased',
    ])
  })

  it('holds who brought shares against the node where a boost asks, and believes the file where it cannot', () => {
    const boosted = {
      ...plain,
      terms: {
        ...plain.terms,
        adapters: [{ type: 'boost' as const, multiplierBps: 20_000, distributorIds: ['alpha'] }],
      },
    }
    const lot = { at: day, wallet: wallets[0] ?? '', distributorId: 'alpha', shares: 100n }
    const of = snapshotsOf({ ...boosted, facts: { ...plain.facts, lots: [lot] } }, 1)
    const written = write(of)
    const told = (lots: FoundRewards['snapshots'][number]['lots']) => {
      const [snapshot] = findOf(of, written).snapshots
      const { files: judged, believed } = judgeRewards(written, {
        ...{ found: { ...findOf(of, written), snapshots: [{ ...snapshot!, lots }] }, terms: hashTerms(of[0]!) },
      })
      return { problems: judged[0]?.problems, believed }
    }
    expect(told({ steps: [lot], untraced: 0 })).toEqual({ problems: [], believed: [] })
    expect(told({ steps: [lot], untraced: 2 })).toEqual({
      ...{ problems: [], believed: ['the run of 2 transactions, which the node does not tell'] },
    })
    expect(told({ steps: [], untraced: 0 }).problems).toContain(
      'its sources of shares are not those that the node tells',
    )
    expect(told(undefined)).toEqual({
      ...{ problems: [], believed: ['the sources of shares: the file does not say how they are found'] },
    })
  })
})
