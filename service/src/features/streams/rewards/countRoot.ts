import { toUnixSeconds } from '../../../kernel/clock.js'
import type { Context } from '../../../postgres/context.js'
import type { Chains } from '../../../rpc/chains.js'
import { findStreamTarget } from '../../../snapshots/index.js'
import { findDepth } from '../../../sync/storeDepths.js'
import type { CatalogueContext } from '../../catalogue/index.js'
import { createWeigher } from '../adapters.js'
import { computeSnapshot } from '../amounts.js'
import { findRewardDecimals, findTerms, readInputs } from '../snapshotInputs.js'
import {
  findBlockBefore,
  findCountedBefore,
  findPrevious,
  findRewardFile,
  isTargetRead,
  listEarned,
  type TakenSnapshot,
} from '../storeSnapshots.js'
import type { StreamRow } from '../storeStreams.js'
import type { Leaf } from '../tree.js'
import { readRewards } from './recompute.js'
import {
  decodeRewardFile,
  hashFile,
  hashTerms,
  RewardFileError,
  type RewardInputs,
  recomputeRewards,
  toResult,
} from './rewardFile.js'
import { type FoundRewards, judgeRewards, type RewardFile } from './rewardProof.js'
import { checkTree, isSameResult, type RootReading, type RootResult } from './rootVerdict.js'

/** A root to be looked at: of a snapshot of ours, or one on the chain that is not ours. */
export type RootClaim = RootResult & {
  stream: StreamRow
  /** Unix seconds. */
  at: number
  /** Absent: of a root that is not ours, without a file of its leaves. */
  leaves?: readonly Leaf[] | undefined
  /** Absent: the root is not ours. */
  snapshot?: TakenSnapshot
}

/** The result of a source for a root, with its leaves. */
export type CountedRoot = Pick<RootReading, 'result' | 'problems'> & { leaves: readonly Leaf[] }

/** A root with the inputs it is to follow from, by today's tables. */
export type OpenRoot = {
  claim: RootClaim
  stored: CountedRoot
  /** The inputs to hold against a node: what no node tells (prices, terms) is as the root's reward file has it. */
  inputs: RewardInputs | undefined
}

/** The claim that a snapshot makes by its wallets and its root. */
export async function claimOf(db: Context['db'], stream: StreamRow, snapshot: TakenSnapshot): Promise<RootClaim> {
  const { root, leaves } = toResult(await listEarned(db, snapshot.id))
  const { at, amountDistributed: total } = snapshot
  return { stream, at, root: snapshot.root ?? root, total, leaves, snapshot }
}

/** Counts a root again from the stored facts. */
export async function openRoot(ctx: CatalogueContext, claim: RootClaim): Promise<OpenRoot> {
  const { db } = ctx
  const { stream, at, snapshot } = claim
  const { targetChainId: chainId } = stream
  const target = await findStreamTarget(db, stream.targetVaultId)
  const terms = await findTerms(db, stream, await findRewardDecimals(ctx, stream))
  const hasLots = createWeigher(terms.adapters).distributors.size > 0
  const confirmedAt = (await findDepth(db, chainId))?.confirmedAt
  const isDerived = confirmedAt != null && toUnixSeconds(confirmedAt) > at
  if (!target || !isDerived || !(await isTargetRead(db, { chainId, address: target.address, hasLots })))
    return { claim, stored: untold('the chain is not derived up to its instant'), inputs: undefined }
  const previous = await (snapshot ? findPrevious(db, snapshot.id) : findCountedBefore(db, stream.id, at))
  const number = await findBlockBefore(db, chainId, at)
  const todays = await readInputs(db, { ...{ stream, terms, target, previous, to: at }, block: { number, hash: '' } })
  const file = snapshot && (await readKept(db, snapshot))
  const before = previous && (await readKept(db, previous))
  return { claim, ...judgeStored(claim, before ? goOn(todays, before) : todays, file) }
}

/** The inputs, going on from what the file before comes to: its hash is known, the rows of its wallets may be others by now. */
function goOn(todays: RewardInputs, before: Kept): RewardInputs {
  if (!('inputs' in before)) return todays
  const { terms, facts, to, from } = before.inputs
  return { ...todays, from: computeSnapshot(terms, facts, to, from).states }
}

const untold = (...problems: string[]): CountedRoot => ({ result: undefined, problems, leaves: [] })

/** A reward file as it is kept, or why it cannot be used. */
type Kept = { inputs: RewardInputs } | { problem: string }

async function readKept(db: Context['db'], { fileHash }: TakenSnapshot): Promise<Kept> {
  const text = fileHash === null ? undefined : await findRewardFile(db, fileHash)
  if (text === undefined) return { problem: 'its reward file is missing' }
  if (hashFile(text) !== fileHash) return { problem: 'its reward file is not that of its hash' }
  try {
    return decodeRewardFile(text)
  } catch (error) {
    if (!(error instanceof RewardFileError)) throw error
    return { problem: `its reward file cannot be read: ${error.message}` }
  }
}

/**
 * Counts a root from the inputs of today's tables. Prices that came after the snapshot make no root wrong, and no node tells
 * them: where they alone differ from those of the reward file, the result is that of the file's, with a sentence. Pure.
 */
export function judgeStored(
  claim: Pick<RootClaim, 'root' | 'total' | 'leaves' | 'snapshot'>,
  todays: RewardInputs,
  file: Kept | undefined,
): Pick<OpenRoot, 'stored' | 'inputs'> {
  const problems = claim.leaves ? checkTree(claim, claim.leaves) : []
  const kept = file && 'inputs' in file ? file.inputs : undefined
  if (file && 'problem' in file) problems.push(file.problem)
  if (kept && !isSameResult(recomputeRewards(kept), claim))
    problems.push(`the inputs in its reward file come to the root ${recomputeRewards(kept).root ?? 'of no tree'}`)
  const counted = recomputeRewards(todays)
  const { sharePrices, rewardPrices } = kept?.facts ?? todays.facts
  const block = kept?.origin.block ?? todays.origin.block
  const inputs = {
    ...{ ...todays, facts: { ...todays.facts, sharePrices, rewardPrices } },
    ...{ origin: { ...todays.origin, block } },
  }
  if (!kept || isSameResult(counted, claim)) return { stored: { ...toCounted(counted), problems }, inputs }
  const asThen = recomputeRewards(inputs)
  if (!isSameResult(asThen, claim)) return { stored: { ...toCounted(counted), problems }, inputs }
  problems.push(
    `its prices are not those of today's tables, by which the root would be ${counted.root ?? 'of no tree'}`,
  )
  return { stored: { ...toCounted(asThen), problems }, inputs }
}

const toCounted = ({ root, total, leaves }: RootResult & { leaves: readonly Leaf[] }) => ({
  result: { root, total },
  leaves,
})

/** Counts a root again from what a node tells of holders, sources of shares, budget and contract. */
export async function countAtNode(
  ctx: Pick<Context, 'clock' | 'log'> & { chains: Chains },
  { claim, stored, inputs }: OpenRoot,
): Promise<CountedRoot> {
  if (!inputs) return untold('the inputs that no node tells are not derived yet')
  const file = fileOf(claim, inputs, claim.leaves ?? stored.leaves)
  return judgeNode(claim, file, await readRewards(ctx, [file]))
}

/** A root as a reward file, for the functions that judge files. */
export function fileOf(
  { root, total, snapshot }: Pick<RootClaim, 'root' | 'total' | 'snapshot'>,
  inputs: RewardInputs,
  leaves: readonly Leaf[],
): RewardFile {
  return { name: '', hash: snapshot?.fileHash ?? '', inputs, result: { root, total, leaves: [...leaves] } }
}

/** Counts a root from facts of a node. One that lags, or does not tell how every transaction ran, has no other result. Pure. */
export function judgeNode(
  claim: Pick<RootClaim, 'root' | 'total' | 'snapshot'>,
  file: RewardFile,
  found: FoundRewards | undefined,
): CountedRoot {
  const [snapshot] = found?.snapshots ?? []
  if (!found || !snapshot) return untold('no node of its chain was asked')
  if (!snapshot.block) return untold('the chain has not come past its instant')
  // A root that is not ours names no block.
  const { number, hash } = claim.snapshot ? file.inputs.origin.block : snapshot.block
  const inputs = { ...file.inputs, origin: { ...file.inputs.origin, block: { number, hash } } }
  const [judged] = judgeRewards([{ ...file, inputs }], { found, terms: hashTerms(inputs) }).files
  if (!judged) throw new Error('a file was judged')
  const isWhole = (snapshot.lots?.untraced ?? 0) === 0
  if (!isWhole && !isSameResult(judged, claim)) return untold('the node does not tell how every transaction ran')
  return { ...toCounted(judged), problems: judged.problems }
}
