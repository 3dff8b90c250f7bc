import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histories, wallets } from '../../../../test/recount/randomStream.js'
import { findOf, moveEarned, snapshotsOf, stranger, write } from '../../../../test/rewardFiles.js'
import { seed, seededRandom, times } from '../../../../test/seed.js'
import type { Random } from '../../../../test/simulation/random.js'
import type { AccrualFacts, AccrualStates } from '../types.js'
import { encodeRewardFile, hashTerms, type RewardInputs } from './rewardFile.js'
import { judgeRewards, type RewardFile } from './rewardProof.js'

type Forgery = { name: string; files: RewardFile[] }

/** Forges files as one who can write all of them anew: what follows a change follows from it. */
function forge(snapshots: readonly RewardInputs[], honest: readonly RewardFile[], random: Random): Forgery | undefined {
  const at = random.int(0, snapshots.length - 1)
  const target = snapshots[at]
  if (!target) return undefined
  const { facts, terms, to } = target
  const withFacts = (balances: AccrualFacts['balances']) =>
    write(snapshots.map((each, i) => (i === at ? { ...each, facts: { ...facts, balances } } : each)))
  const holders = facts.balances.filter(({ shares }) => shares > 0n).map(({ wallet }) => wallet)
  const victim = holders[random.int(0, holders.length - 1)]
  const history = facts.balances.filter(({ wallet }) => wallet === victim)
  // Of two steps at one instant the later one counts.
  const counts = history.some(({ at: when, shares }, i) => shares > 0n && history[i + 1]?.at !== when)
  switch (random.int(0, 5)) {
    case 0:
      if (!counts) return undefined
      return {
        name: 'moved',
        files: withFacts(facts.balances.map((step) => (step.wallet === victim ? { ...step, wallet: stranger } : step))),
      }
    case 1: {
      const from = random.int(facts.balances[0]?.at ?? terms.startAt, to - 1)
      const added = { at: Math.max(from, terms.startAt), wallet: stranger, shares: 10n ** BigInt(random.int(0, 24)) }
      return { name: 'added', files: withFacts([...facts.balances, added].sort((a, b) => a.at - b.at)) }
    }
    case 2:
      return counts
        ? { name: 'dropped', files: withFacts(facts.balances.filter(({ wallet }) => wallet !== victim)) }
        : undefined
    case 3: {
      // One snapshot is left out, and the next goes on from what it came to.
      const rest = honest.filter((_, i) => i !== at)
      const files = rest.map((file, i) => {
        const inputs = { ...file.inputs, origin: { ...file.inputs.origin, previous: rest[i - 1]?.hash ?? null } }
        return { ...file, inputs, hash: encodeRewardFile(inputs, file.result).hash }
      })
      return at < snapshots.length - 1 ? { name: 'a file dropped', files } : undefined
    }
    case 4: {
      const other = otherTerms(terms, random)
      const isAll = random.next() < 0.5
      return {
        name: 'other terms',
        files: write(snapshots.map((each, i) => (isAll || i >= at ? { ...each, terms: other } : each))),
      }
    }
    default: {
      const earned = at > 0 && honest[at]?.inputs.from?.own.accrued
      if (!earned || ![...earned.values()].some((each) => each > 1n)) return undefined
      const change = (from: AccrualStates, i: number) =>
        i === at ? { own: moveEarned(from.own), base: moveEarned(from.base) } : from
      return { name: 'other from', files: write(snapshots, change) }
    }
  }
}

function otherTerms(terms: RewardInputs['terms'], random: Random): RewardInputs['terms'] {
  const { strategy, adapters } = terms
  const rate =
    strategy.type === 1
      ? { ...strategy, tokensPerUsd: strategy.tokensPerUsd * 2n }
      : strategy.type === 2
        ? { ...strategy, aprE18: strategy.aprE18 * 2n }
        : { ...strategy, tokensPerDay: strategy.tokensPerDay * 2n }
  const changes: Partial<RewardInputs['terms']>[] = [
    { strategy: rate },
    { adapters: [...adapters, { type: 'blocklist', wallets: [wallets[random.int(0, 4)] ?? ''] }] },
    { adapters: [...adapters, { type: 'boost', multiplierBps: 20_000, wallets: [wallets[0] ?? ''] }] },
    { startAt: terms.startAt - 1 },
    { endAt: (terms.endAt ?? 10 ** 9) + 3_600 },
    { budget: (terms.budget ?? 0n) + 1n },
    { increases: [...terms.increases, { at: terms.startAt, total: 10n ** 30n }] },
    { rewardDecimals: 6 },
  ]
  return { ...terms, ...changes[random.int(0, changes.length - 1)] }
}

/** 60 in CI; `TEST_TIMES=500` tries 500. */
const forgeries = times > 1 ? times : 60

describe('forged reward files', () => {
  it(`of ${forgeries} forgeries none passes as kept, whether the contract holds the honest roots or the forged ones`, () => {
    const random = seededRandom()
    const drawn = fc.sample(histories, { seed, numRuns: 40 * forgeries })
    const counts = new Map<string, number>()
    let [done, differ, kept] = [0, 0, 0]
    for (const history of drawn) {
      if (done === forgeries) break
      const snapshots = snapshotsOf(history, random.int(2, 5))
      const [first] = snapshots
      const isLong = Math.min(history.to, history.terms.endAt ?? history.to) > history.terms.startAt + 10
      if (!first || !isLong) continue
      const honest = write(snapshots)
      const forged = forge(snapshots, honest, random)
      if (!forged) continue
      const terms = hashTerms(first)
      const told = judgeRewards(honest, { found: findOf(snapshots, honest), terms })
      expect(told.files.flatMap(({ problems }) => problems)).toEqual([])
      done += 1
      counts.set(forged.name, (counts.get(forged.name) ?? 0) + 1)
      const at = (file: RewardFile) => snapshots.findIndex(({ to }) => to === file.inputs.to)
      const foundOf = (committed: readonly RewardFile[]) => {
        const found = findOf(snapshots, committed)
        // A node tells of the snapshots that are asked about.
        return { ...found, snapshots: forged.files.map((file) => found.snapshots[at(file)]!) }
      }
      for (const committed of [honest, forged.files]) {
        const { files, believed } = judgeRewards(forged.files, { found: foundOf(committed), terms })
        if (files.some(({ problems }) => problems.length > 0)) differ += 1
        // An end that was moved is the operator's to move: it is named among what is believed.
        else if (believed.every((line) => told.believed.includes(line))) kept += 1
      }
      // Without a node, and without the terms, nothing is proved: it says what it believes.
      expect(judgeRewards(forged.files).believed.length).toBeGreaterThan(0)
    }
    const list = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`)
    console.info(
      `${done} forgeries, each with the honest roots committed and with its own: ${differ} differ, ${2 * done - differ - kept} are told by what is believed, ${kept} pass as kept: ${list.join(', ')}`,
    )
    expect({ done, kept, kinds: counts.size }).toEqual({ done: forgeries, kept: 0, kinds: 6 })
  }, 120_000)
})
