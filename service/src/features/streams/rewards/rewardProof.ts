import { formatTs } from '../../../kernel/clock.js'
import { createWeigher } from '../adapters.js'
import { computeSnapshot } from '../amounts.js'
import type { AccrualStates, BalanceStep, BudgetStep, LotStep, StreamTerms } from '../types.js'
import { type FileReward, hashStates, hashTerms, type RewardInputs, type RewardResult, toResult } from './rewardFile.js'

/** A reward file that was read; `hash` names it. */
export type RewardFile = { name: string; hash: string; inputs: RewardInputs; result: RewardResult }

/** Facts of a node about the snapshot of a file. */
export type FoundSnapshot = {
  /** The last block by the instant; undefined: the chain has not come past the instant. */
  block: { number: number; hash: string } | undefined
  /** Of nobody whom the file leaves out. */
  balances: readonly BalanceStep[]
  /** Undefined where no adapter asks, or the file does not say by what it is found. `untraced`: transactions nobody traced. */
  lots: { steps: readonly LotStep[]; untraced: number } | undefined
}

/** Facts of a node about the contract that pays. */
export type FoundStream = {
  /** By the factory of the files; undefined: it made no stream of this id. */
  creation: { contract: string; rewardToken: string; netAmount: bigint } | undefined
  /** The factory the contract itself names. */
  factory: string | undefined
  rewardDecimals: number | undefined
  /** The budget after each increase, in order. */
  increases: readonly BudgetStep[]
  /** Every root that was ever committed, in order. */
  roots: readonly { at: number; root: string; total: bigint }[]
}

export type FoundRewards = {
  /** In the order of the files. */
  snapshots: readonly FoundSnapshot[]
  /** Addresses the files leave out and that are no contracts. */
  codeless: ReadonlySet<string>
  /** Undefined where no node of its chain was asked, and of points. */
  stream: FoundStream | undefined
}

export type JudgedFile = RewardResult & { name: string; kept: string | null; problems: string[] }

export type JudgedRewards = {
  /** In the order of their instants. */
  files: JudgedFile[]
  /** Claims that only the files make, without a proof. */
  believed: string[]
  /** Names what was agreed of the stream. */
  terms: string
}

/** The files in the order of their instants: as they go on from each other. */
export const sortFiles = (files: readonly RewardFile[]): RewardFile[] =>
  files.toSorted((a, b) => a.inputs.to - b.inputs.to)

/**
 * Checks reward files of one stream, in the order of their instants, against each other and against facts of nodes. Each file
 * must continue from the state of the one before, as computed here. Unproved claims are listed. `terms`: the hash of the
 * terms that the caller knows. Pure.
 */
export function judgeRewards(
  files: readonly RewardFile[],
  { found, terms: known }: { found?: FoundRewards | undefined; terms?: string | undefined } = {},
): JudgedRewards {
  const [first] = files
  if (!first) throw new Error('there is no reward file to judge')
  const believed = new Set<string>()
  const terms = hashTerms(first.inputs)
  let before: { file: RewardFile; states: AccrualStates } | undefined
  const judged = files.map((file, index): JudgedFile => {
    const problems: string[] = []
    const say = (problem: string) => problems.push(problem)
    const snapshot = found?.snapshots[index]
    checkLink(file, before?.file, { say, believed })
    if (before && hashFrom(file) !== hashStates(before.states))
      say('the earnings before it are not those that the file before comes to')
    const facts = snapshot ? checkFacts(file, snapshot, { say, believed }) : file.inputs.facts
    checkExcluded(file, found?.codeless, { say, believed })
    const { terms: agreed, to, from } = file.inputs
    const { amounts, states } = computeSnapshot(agreed, facts, to, before?.states ?? from)
    before = { file, states }
    const counted = toResult(amounts.wallets)
    checkResult(file, counted, say)
    if (found?.stream) checkStream(file, found.stream, say)
    return { name: file.name, ...counted, kept: file.result.root, problems }
  })
  const last = judged.at(-1)
  const say = (problem: string) => last?.problems.push(problem)
  if (known !== undefined && known !== terms) say(`the terms are ${terms}, and not ${known}`)
  if (found?.stream) checkRoots(files, found.stream, { say, believed })
  for (const line of listBelieved(first.inputs, { found, known })) believed.add(line)
  return { files: judged, believed: [...believed], terms }
}

type Check = { say: (problem: string) => void; believed: Set<string> }

const hashFrom = ({ inputs }: RewardFile): string | undefined => inputs.from && hashStates(inputs.from)

const instant = (at: number): string => formatTs(new Date(at * 1_000))

/** That a file goes on from the one before, of the same stream. */
function checkLink({ inputs }: RewardFile, before: RewardFile | undefined, { say, believed }: Check): void {
  const { origin, from, terms, to } = inputs
  const { previous } = origin
  if ('pointId' in origin.reward && terms.increases.length > 0) say('a budget of points is never increased')
  if (to <= (from?.own.at ?? terms.startAt)) say('it ends before it begins')
  if ((previous === null) !== (from === undefined))
    say('it has earnings before it and names no file of them, or names one and has none')
  if (before) {
    if (previous !== before.hash)
      say(`it goes on from the file ${previous ?? 'of no snapshot'}, and the file before it is ${before.hash}`)
    checkSameTerms(inputs, before.inputs, { say, believed })
  } else if (from)
    believed.add(`the earnings of everybody by ${instant(from.own.at)}: the file ${previous ?? ''} is not given`)
}

/** Of what was agreed only the budget may grow, and the end come earlier. */
function checkSameTerms(inputs: RewardInputs, before: RewardInputs, { say, believed }: Check): void {
  const [now, then] = [inputs.terms, before.terms]
  const same = (of: RewardInputs) => hashTerms({ ...of, terms: { ...of.terms, endAt: null } })
  if (same(inputs) !== same(before)) say('its terms are not those of the file before')
  if (now.endAt !== then.endAt) {
    const isEarlier = now.endAt !== null && (then.endAt === null || now.endAt < then.endAt) && now.endAt >= inputs.to
    if (isEarlier) believed.add(`that the stream was ended early, at ${instant(now.endAt ?? 0)}`)
    else say('it ends later than the file before says')
  }
  const known = then.increases.every(
    ({ at, total }, i) => now.increases[i]?.at === at && now.increases[i]?.total === total,
  )
  if (!known) say('an increase of the budget that the file before names is missing')
}

/** Compares block, holders and lots with those of a node; returns the facts to use. */
function checkFacts({ inputs }: RewardFile, found: FoundSnapshot, { say, believed }: Check): RewardInputs['facts'] {
  const { facts, origin, terms, to } = inputs
  const { block } = origin
  if (!found.block) say(`the chain has not come past ${instant(to)} at the node`)
  else if (found.block.number !== block.number || found.block.hash !== block.hash)
    say(
      `the last block by ${instant(to)} is ${found.block.number} ${found.block.hash} at the node, and ${block.number} ${block.hash} in the file`,
    )
  if (summarise(found.balances) !== summarise(facts.balances)) say('its holders are not those that the node tells')
  const asks = createWeigher(terms.adapters).distributors.size > 0
  const { lots } = found
  if (asks && !lots) believed.add('the sources of shares: the file does not say how they are found')
  if (lots && summarise(lots.steps) !== summarise(facts.lots))
    say('its sources of shares are not those that the node tells')
  if (lots && lots.untraced > 0) believed.add(`the run of ${lots.untraced} transactions, which the node does not tell`)
  return { ...facts, balances: found.balances, lots: asks ? (lots?.steps ?? facts.lots) : [] }
}

/** Each change of each holder once, in one form: the same history written in another way is equal. */
function summarise(steps: readonly (BalanceStep & { distributorId?: string })[]): string {
  const holders = new Map<string, Map<number, bigint>>()
  for (const { at, wallet, distributorId = '', shares } of steps) {
    const key = `${wallet} ${distributorId}`
    const held = holders.get(key) ?? new Map<number, bigint>()
    holders.set(key, held.set(at, shares))
  }
  const lines: string[] = []
  for (const [key, held] of holders) {
    let last = 0n
    for (const [at, shares] of held) {
      if (shares !== last) lines.push(`${key} ${at} ${shares}`)
      last = shares
    }
  }
  return lines.sort().join('\n')
}

/** Nobody is left out who is no contract; which contracts are is believed, but for the vault and its token. */
function checkExcluded({ inputs }: RewardFile, codeless: ReadonlySet<string> | undefined, check: Check): void {
  const { own, address, token } = inputs.origin.target
  for (const each of own.filter((one) => one !== address && one !== token)) {
    if (codeless?.has(each)) check.say(`${each} is left out and is no contract`)
    else check.believed.add(`that ${each} holds shares of nobody`)
  }
}

function checkResult({ result }: RewardFile, counted: RewardResult, say: Check['say']): void {
  const list = ({ leaves }: RewardResult) => leaves.map(({ wallet, cumulative }) => `${wallet} ${cumulative}`).join()
  if (counted.root !== result.root) say(`its root is ${result.root ?? 'none'}`)
  else if (counted.total !== result.total || list(counted) !== list(result))
    say('its amounts are not those of its root')
}

/** Holds budget, token, contract and root against the contract that pays. */
function checkStream({ inputs, result }: RewardFile, found: FoundStream, say: Check['say']): void {
  const { terms, origin, to } = inputs
  const { reward } = origin
  if ('pointId' in reward) return
  const { creation, increases } = found
  if (!creation) say(`the factory ${reward.factory} made no stream of this id`)
  else if (creation.contract !== reward.contract)
    say(`the contract of the stream is ${creation.contract}, and not ${reward.contract}`)
  else if (creation.rewardToken !== reward.address)
    say(`the stream pays ${creation.rewardToken}, not ${reward.address}`)
  else if (creation.netAmount !== terms.budget)
    say(`the stream was given ${creation.netAmount}, and the file says ${terms.budget}`)
  if (found.factory !== reward.factory) say(`the contract names another factory than ${reward.factory}`)
  if (found.rewardDecimals !== terms.rewardDecimals) say('the token that is paid has other decimals')
  if (!areIncreases(terms, increases, to)) say('the increases of the budget are not those of the contract')
  const held = found.roots.find(({ at }) => at === to)
  if (held && (held.root !== result.root || held.total !== result.total))
    say(`the contract holds the root ${held.root} with ${held.total} for this instant`)
}

/** All increases by the instant, and of later ones none that was not. */
function areIncreases({ increases }: StreamTerms, found: readonly BudgetStep[], to: number): boolean {
  const isSame = increases.every(({ at, total }, i) => found[i]?.at === at && found[i]?.total === total)
  return isSame && found.slice(increases.length).every(({ at }) => at > to)
}

/** That every root of the contract is that of a file, as far as the files reach, and the last file's is committed. */
function checkRoots(files: readonly RewardFile[], { roots }: FoundStream, { say, believed }: Check): void {
  const [first, last] = [files[0], files.at(-1)]
  if (!first || !last) return
  const since = first.inputs.from?.own.at ?? 0
  const instants = new Set(files.map(({ inputs }) => inputs.to))
  for (const { at, root } of roots)
    if (at > since && at <= last.inputs.to && !instants.has(at))
      say(`the contract holds the root ${root} of ${instant(at)}, of which no file is given`)
  const newest = roots.findLast(({ at }) => at <= last.inputs.to)
  if (newest?.root !== last.result.root && last.result.root !== null && newest?.at !== last.inputs.to)
    believed.add(`the root of ${instant(last.inputs.to)}: it is not committed`)
  const later = roots.findLast(({ at }) => at > last.inputs.to)
  if (later) believed.add(`the newer root of ${instant(later.at)} in the contract: no file of it is given`)
}

/** Lists claims that no fact proves. */
function listBelieved(
  { terms, origin, configuration }: RewardInputs,
  { found, known }: { found: FoundRewards | undefined; known: string | undefined },
): string[] {
  const { type } = terms.strategy
  return [
    ...(known === undefined ? [`the terms ${hashTerms({ terms, origin })}: ${describe(terms, origin.reward)}`] : []),
    ...(found ? [] : ['holders and blocks: no node was asked']),
    ...(found && configuration ? ['the distributors and their signers'] : []),
    ...('pointId' in origin.reward
      ? ['every root: points are on no chain']
      : found?.stream
        ? []
        : ['budget and roots: no node of the chain that pays was asked']),
    ...(type === 3 ? [] : ['the prices of a share']),
    ...(type === 2 ? ['the prices of the reward'] : []),
  ]
}

function describe({ strategy, adapters, startAt, endAt }: StreamTerms, reward: FileReward): string {
  const rate =
    strategy.type === 1
      ? `${strategy.tokensPerUsd} units a day per 1,000 USD`
      : strategy.type === 2
        ? `${strategy.aprE18} × 10^-18 of the value a year`
        : `${strategy.tokensPerDay} units a day`
  const by = 'pointId' in reward ? 'in points' : `by ${reward.contract} on chain ${reward.chainId}`
  const end = endAt === null ? 'without an end' : `to ${instant(endAt)}`
  return `${rate}, ${by}, from ${instant(startAt)} ${end}, ${adapters.length} adapters`
}
