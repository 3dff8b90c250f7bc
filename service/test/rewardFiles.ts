import { createWeigher } from '../src/features/streams/adapters.js'
import { computeSnapshot } from '../src/features/streams/amounts.js'
import { encodeRewardFile, type RewardInputs, toResult } from '../src/features/streams/rewards/rewardFile.js'
import type { FoundRewards, RewardFile } from '../src/features/streams/rewards/rewardProof.js'
import type { AccrualFacts, AccrualState, AccrualStates } from '../src/features/streams/types.js'
import type { StreamHistory } from './recount/randomStream.js'

/** Reward files of made-up streams, and what an honest node would tell of them. */

export const [vault, token, factory, contract] = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`) as [
  ...[string, string, string, string],
]
export const stranger = `0x${'f'.repeat(40)}`
export const blockOf = (at: number) => ({ number: at, hash: `0x${at.toString(16).padStart(64, '0')}` })

/** What holds at an instant and what changes up to another. */
export function cut<Step extends { at: number }>(
  steps: readonly Step[],
  from: number,
  to: number,
  keyOf: (step: Step) => string,
) {
  const held = new Map<string, Step>()
  for (const step of steps) if (step.at <= from) held.set(keyOf(step), { ...step, at: from })
  return [...held.values(), ...steps.filter(({ at }) => at > from && at <= to)]
}

export function cutFacts(
  facts: AccrualFacts,
  from: number,
  to: number,
  distributors: ReadonlySet<string>,
): AccrualFacts {
  return {
    balances: cut(facts.balances, from, to, ({ wallet }) => wallet),
    lots: cut(facts.lots, from, to, ({ wallet, distributorId }) => `${wallet} ${distributorId}`).filter(
      ({ distributorId }) => distributors.has(distributorId),
    ),
    sharePrices: cut(facts.sharePrices, from, to, () => ''),
    rewardPrices: cut(facts.rewardPrices, from, to, () => ''),
  }
}

/** The snapshots of a stream at some instants, each with its facts. */
export function snapshotsOf({ terms, facts, to }: StreamHistory, parts: number): RewardInputs[] {
  const last = Math.min(to, terms.endAt ?? to)
  const instants = Array.from({ length: parts }, (_, i) =>
    Math.floor(terms.startAt + ((last - terms.startAt) * (i + 1)) / parts),
  )
  const { distributors } = createWeigher(terms.adapters)
  const reward = terms.budget === null ? { pointId: 'P' } : { chainId: 1, address: token, factory, contract }
  return instants.map((at, i) => ({
    ...{ terms, to: at, from: undefined, facts: cutFacts(facts, instants[i - 1] ?? terms.startAt, at, distributors) },
    origin: {
      target: { chainId: 1, address: vault, token: vault, asset: token, assetDecimals: 6, own: [vault] },
      ...{ reward, block: blockOf(at), previous: null, observations: [] },
    },
  }))
}

/** Writes files that go on from each other; `change` may change how far everybody had earned by one of them. */
export function write(
  snapshots: readonly RewardInputs[],
  change: (from: AccrualStates, index: number) => AccrualStates = (from) => from,
): RewardFile[] {
  let before: { hash: string; states: AccrualStates } | undefined
  return snapshots.map((snapshot, index) => {
    const from = before && change(before.states, index)
    const inputs = { ...snapshot, from, origin: { ...snapshot.origin, previous: before?.hash ?? null } }
    const { amounts, states } = computeSnapshot(inputs.terms, inputs.facts, inputs.to, from)
    const result = toResult(amounts.wallets)
    const { hash } = encodeRewardFile(inputs, result)
    before = { hash, states }
    return { name: `file ${index}`, hash, inputs, result }
  })
}

/** What an honest node tells of them; `committed`: the files whose roots the contract holds. */
export function findOf(snapshots: readonly RewardInputs[], committed: readonly RewardFile[]): FoundRewards {
  const [{ terms, origin } = {}] = snapshots
  if (!terms || !origin) throw new Error('there is no snapshot')
  const asks = createWeigher(terms.adapters).distributors.size > 0
  const creation = { contract, rewardToken: token, netAmount: terms.budget ?? 0n }
  const roots = committed.flatMap(({ inputs: { to: at }, result: { root, total } }) =>
    root ? [{ at, root, total }] : [],
  )
  return {
    snapshots: snapshots.map(({ facts, to }) => ({
      ...{ block: blockOf(to), balances: facts.balances },
      lots: asks ? { steps: facts.lots, untraced: 0 } : undefined,
    })),
    codeless: new Set(),
    stream:
      'pointId' in origin.reward
        ? undefined
        : { creation, factory, rewardDecimals: 18, increases: terms.increases, roots },
  }
}

export const moveEarned = ({ accrued, ...state }: AccrualState): AccrualState => {
  let taken = 0n
  const moved = new Map<string, bigint>()
  for (const [wallet, each] of accrued) {
    taken += each / 2n
    moved.set(wallet, each - each / 2n)
  }
  if (taken > 0n) moved.set(stranger, taken)
  return { ...state, accrued: moved }
}
