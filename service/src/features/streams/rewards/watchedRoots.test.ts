import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histories } from '../../../../test/recount/randomStream.js'
import { findOf, snapshotsOf, stranger, write } from '../../../../test/rewardFiles.js'
import { seed, seededRandom, times } from '../../../../test/seed.js'
import type { Random } from '../../../../test/simulation/random.js'
import { decideCommit } from '../commitDecision.js'
import type { Leaf } from '../tree.js'
import { type CountedRoot, fileOf, judgeNode, judgeStored, type RootClaim } from './countRoot.js'
import { describeCounted } from './lookAtRoot.js'
import { type RewardInputs, recomputeRewards, toResult } from './rewardFile.js'
import type { FoundRewards, RewardFile } from './rewardProof.js'
import { follow, isDue, judgeReadings, type RootReading, type RootVerdict } from './rootVerdict.js'

/** 60 in CI; `TEST_TIMES=1000` tries 1,000. */
const snapshots = times > 1 ? times : 60

const vetoSeconds = 60
const everySeconds = 15
const rootedAt = new Date('2026-11-20T12:00:00Z')

/** What a node tells at a tick; undefined: it does not respond. */
type Node = (tick: number) => FoundRewards | undefined
type World = { honest: FoundRewards; random: Random }

const withHolders = (found: FoundRewards, balances: FoundRewards['snapshots'][number]['balances']): FoundRewards => ({
  ...found,
  snapshots: found.snapshots.map((each) => ({ ...each, balances })),
})

/** Somebody who holds more than all others from before the start on. */
const lieOf = ({ honest }: World, much: bigint): FoundRewards => {
  const [first] = honest.snapshots
  const balances = first?.balances ?? []
  const at = balances[0]?.at ?? 0
  return withHolders(honest, [{ at, wallet: stranger, shares: 10n ** 30n * much }, ...balances])
}

const nodes = {
  honest:
    ({ honest }: World): Node =>
    () =>
      honest,
  liar:
    (world: World): Node =>
    () =>
      lieOf(world, 1n),
  fickle:
    (world: World): Node =>
    (tick) =>
      lieOf(world, BigInt(tick + 2)),
  'turned liar':
    (world: World): Node =>
    (tick) =>
      tick % 2 === 0 ? world.honest : lieOf(world, 1n),
  lagging:
    ({ honest }: World): Node =>
    () => ({
      ...honest,
      snapshots: honest.snapshots.map((each) => ({ ...each, block: undefined, balances: each.balances.slice(0, 1) })),
    }),
  'on another branch':
    ({ honest }: World): Node =>
    () => ({
      ...honest,
      snapshots: honest.snapshots.map((each) => ({
        ...{ ...each, balances: each.balances.slice(0, -1) },
        block: each.block && { ...each.block, hash: `0x${'ab'.repeat(32)}` },
      })),
    }),
  down: (): Node => () => undefined,
}
type Kind = keyof typeof nodes

type Case = { claim: RootClaim; todays: RewardInputs; file: RewardInputs; asked: readonly Node[]; recheckMs: number }

/** Looks at a root every 15 s until it is vetoed or committed, as the job does. */
function watch({ claim, todays, file, asked, recheckMs }: Case) {
  const { stored, inputs } = judgeStored(claim, todays, { inputs: file })
  const readings = new Map<string, RootReading>()
  const lines = new Set<string>()
  const verdicts: RootVerdict[] = []
  for (let tick = 0; ; tick++) {
    const now = new Date(rootedAt.getTime() + tick * everySeconds * 1_000)
    const sources: [string, () => CountedRoot][] = [
      ['stored facts', () => stored],
      ...asked.map((node, index): [string, () => CountedRoot] => [
        `node ${index}`,
        () => judgeNode(claim, fileOf(claim, inputs!, claim.leaves ?? []), node(tick)),
      ]),
    ]
    for (const [source, count] of sources) {
      if (!isDue(claim, readings.get(source), { now, recheckMs })) continue
      const { leaves, ...counted } = count()
      const kind = source === 'stored facts' ? ('stored' as const) : ('node' as const)
      readings.set(source, follow(readings.get(source), { source, kind, ...counted, readAt: now }))
      for (const line of describeCounted(claim, source, { leaves, ...counted })) lines.add(line)
    }
    const verdict = judgeReadings(claim, [...readings.values()], { recheckMs })
    verdicts.push(verdict)
    const { root, total } = claim
    const commit = decideCommit({
      ...{ snapshot: { at: claim.at, root, rootedAt, total, updatedAt: rootedAt }, held: undefined, sent: undefined },
      ...{ before: [], finalTo: 1, vetoSeconds, now },
    })
    const seconds = tick * everySeconds
    if (verdict === 'veto') return { vetoedAt: seconds, isInTime: commit === 'wait', lines: [...lines], verdicts }
    if (commit === 'commit') return { vetoedAt: undefined, isInTime: false, lines: [...lines], verdicts }
  }
}

/** Snapshots of random streams that allocate something, each with its file and an honest node. */
function* listRoots(count: number, random: Random) {
  let done = 0
  for (const history of fc.sample(histories, { seed, numRuns: 40 * count })) {
    const isLong = Math.min(history.to, history.terms.endAt ?? history.to) > history.terms.startAt + 10
    if (!isLong) continue
    const taken = snapshotsOf(history, random.int(1, 4))
    for (const [index, file] of write(taken).entries()) {
      const snapshot = taken[index]
      if (!snapshot || file.result.leaves.length < 2) continue
      yield { file, world: { honest: findOf([snapshot], []), random } }
      if (++done === count) return
    }
  }
}

const claimOf = (file: RewardFile, { root, total, leaves }: RewardFile['result']): RootClaim =>
  ({ at: file.inputs.to, root, total, leaves, snapshot: { fileHash: file.hash } }) as unknown as RootClaim

const pick = <T>(random: Random, of: readonly T[]): T => of[random.int(0, of.length - 1)] as T

describe('the right root of a snapshot', () => {
  const sets: readonly (readonly Kind[])[] = [
    ...([['honest'], ['honest', 'honest'], ['liar'], ['fickle'], ['lagging'], ['down'], ['turned liar'], []] as const),
    ...([
      ['honest', 'liar'],
      ['honest', 'fickle'],
      ['honest', 'lagging'],
      ['liar', 'lagging'],
      ['liar', 'down'],
    ] as const),
    ...([['on another branch'], ['on another branch', 'lagging'], ['honest', 'honest', 'liar']] as const),
  ]
  it(`is never vetoed: ${snapshots} snapshots, by nodes of which at most one lies, and others lag or fail`, () => {
    const random = seededRandom()
    const verdicts = new Map<RootVerdict, number>()
    let [done, vetoes, lies, late] = [0, 0, 0, 0]
    for (const { file, world } of listRoots(snapshots, random)) {
      const kinds = pick(random, sets)
      const { facts } = file.inputs
      // A price that came after the snapshot, or a holder whose past was derived again since.
      const change = random.int(0, 3)
      const derived = { at: file.inputs.terms.startAt, wallet: `0x${'ee'.repeat(20)}`, shares: 10n ** 21n }
      const todays =
        change === 0
          ? { ...file.inputs, facts: { ...facts, sharePrices: facts.sharePrices.slice(0, -1) } }
          : change === 1
            ? { ...file.inputs, facts: { ...facts, balances: [derived, ...facts.balances] } }
            : file.inputs
      const asked = kinds.map((kind) => nodes[kind](world))
      const claim = claimOf(file, file.result)
      const seen = watch({ claim, todays, file: file.inputs, asked, recheckMs: pick(random, [0, 2_000, 30_000]) })
      const last = seen.verdicts.at(-1)!
      verdicts.set(last, (verdicts.get(last) ?? 0) + 1)
      done += 1
      if (seen.vetoedAt !== undefined) vetoes += 1
      if (kinds.some((kind) => kind === 'liar' || kind === 'fickle')) {
        lies += 1
        expect(last).toBe('alarm')
      }
      if (todays !== file.inputs) late += 1
    }
    const told = [...verdicts].map(([verdict, count]) => `${verdict} ${count}`).sort()
    console.info(
      `${done} right roots, ${lies} with a lying node, ${late} with other tables since: ${vetoes} vetoes (${told.join(', ')})`,
    )
    expect({ done, vetoes }).toEqual({ done: snapshots, vetoes: 0 })
    expect(Math.min(lies, late, verdicts.get('right') ?? 0)).toBeGreaterThan(snapshots / 20)
  }, 300_000)
})

type Wrong = { name: string; claim: RootClaim; file: RewardInputs; named: (lines: string) => boolean }

/** Wrong roots of a snapshot, and how each is named. */
function listWrong(file: RewardFile, random: Random): Wrong[] {
  const { leaves } = file.result
  const victim = pick(random, leaves)
  const wrong = (name: string, changed: readonly Leaf[], named: RegExp): Wrong => {
    const result = toResult(changed.map(({ wallet, cumulative }) => ({ wallet, rewards: cumulative })))
    return { name, claim: claimOf(file, result), file: file.inputs, named: (lines) => named.test(lines) }
  }
  const change = (to: bigint) => leaves.map((each) => (each === victim ? { ...each, cumulative: to } : each))
  const { wallet, cumulative } = victim
  const { balances } = file.inputs.facts
  const cut = {
    ...file.inputs,
    facts: { ...file.inputs.facts, balances: balances.slice(0, random.int(1, balances.length - 1)) },
  }
  const result = recomputeRewards(cut)
  const isOther = result.root !== null && result.root !== file.result.root
  return [
    wrong(
      'one unit more',
      change(cumulative + 1n),
      new RegExp(`${wallet} has ${cumulative + 1n}, and has earned ${cumulative}`),
    ),
    ...(cumulative > 1n
      ? [
          wrong(
            'one unit less',
            change(cumulative - 1n),
            new RegExp(`${wallet} has ${cumulative - 1n}, and has earned ${cumulative}`),
          ),
        ]
      : []),
    wrong(
      'dropped',
      leaves.filter((each) => each !== victim),
      new RegExp(`${wallet} is missing: it has earned ${cumulative}`),
    ),
    wrong(
      'doubled',
      change(2n * cumulative),
      new RegExp(`${wallet} has ${2n * cumulative}, and has earned ${cumulative}`),
    ),
    wrong('twice', [...leaves, victim], new RegExp(`${wallet} has 2 leaves, of ${cumulative} and ${cumulative}`)),
    ...(isOther
      ? [
          {
            ...{ name: 'inputs cut', claim: claimOf(file, result), file: cut },
            named: (lines: string) => lines.includes(file.result.root ?? '') && / has earned \d/.test(lines),
          },
        ]
      : []),
  ]
}

describe('a wrong root of a snapshot', () => {
  const sets: readonly (readonly Kind[])[] = [
    ['honest', 'honest'],
    ['honest'],
    ['honest', 'lagging'],
    ['honest', 'liar'],
    ['honest', 'down'],
  ]
  it(`is named and vetoed within 60 s, before it is committed: of ${snapshots} snapshots, each kind of wrong root`, () => {
    const random = seededRandom()
    const counts = new Map<string, number>()
    let slowest = 0
    for (const { file, world } of listRoots(snapshots, random))
      for (const { name, claim, file: inputs, named } of listWrong(file, random)) {
        const kinds = pick(random, sets)
        const asked = kinds.map((kind) => nodes[kind](world))
        const seen = watch({
          claim,
          todays: file.inputs,
          file: inputs,
          asked,
          recheckMs: pick(random, [0, 2_000, 30_000]),
        })
        expect(named(seen.lines.join('\n')), `${name}, by ${kinds}: ${seen.lines.join('\n')}`).toBe(true)
        expect(seen, `${name}, by ${kinds}`).toMatchObject({ vetoedAt: expect.any(Number), isInTime: true })
        slowest = Math.max(slowest, seen.vetoedAt ?? Number.POSITIVE_INFINITY)
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    const told = [...counts].map(([name, count]) => `${name} ${count}`)
    console.info(
      `wrong roots, all named and vetoed before the commit, the slowest after ${slowest} s: ${told.join(', ')}`,
    )
    expect([...counts.keys()].sort()).toEqual([
      'doubled',
      'dropped',
      'inputs cut',
      'one unit less',
      'one unit more',
      'twice',
    ])
  }, 300_000)

  it('of tables that are cut as well is vetoed by two urls, and by one url there is an alarm', () => {
    const random = seededRandom()
    let done = 0
    for (const { file, world } of listRoots(snapshots, random)) {
      const cut = listWrong(file, random).find(({ name }) => name === 'inputs cut')
      if (!cut) continue
      const look = (...kinds: Kind[]) =>
        watch({ ...cut, todays: cut.file, asked: kinds.map((kind) => nodes[kind](world)), recheckMs: 2_000 })
      expect(look('honest', 'honest')).toMatchObject({ vetoedAt: 0, isInTime: true })
      for (const alone of [look('honest'), look('honest', 'lagging')])
        expect([alone.vetoedAt, alone.verdicts.at(-1)]).toEqual([undefined, 'alarm'])
      done += 1
    }
    expect(done).toBeGreaterThan(snapshots / 4)
  }, 300_000)
})
