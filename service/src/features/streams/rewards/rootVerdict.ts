import { buildTree, type Leaf } from '../tree.js'

/** A root and the sum of its leaves. `root` null: nobody has earned a whole unit. */
export type RootResult = { root: string | null; total: bigint }

/** The result of a source for a root, when it was last asked. */
export type RootReading = {
  source: string
  /** `stored`: the facts in the database; `node`: a node at one url. */
  kind: 'stored' | 'node'
  /** Undefined: the source cannot tell, because it lags or fails. */
  result: RootResult | undefined
  /** Further deviations from the facts of the source, a sentence each; without a result the reason for that. */
  problems: readonly string[]
  /** When the source came to this result first, without another one in between. */
  since: Date
  readAt: Date
}

/**
 * `right`: every source comes to the root. `open`: no source contradicts it, and one cannot tell. `alarm`: a source contradicts
 * it. `veto`: readings of nodes agree on another root.
 */
export type RootVerdict = 'right' | 'open' | 'alarm' | 'veto'

/** How long a source that cannot tell is asked again, and after which time. */
const patienceMs = 3_600_000
const retryMs = 60_000

/** Whether two results are the same. */
export const isSameResult = (a: RootResult, b: RootResult): boolean => a.root === b.root && a.total === b.total

/**
 * Judges a root by the newest reading of each source. A veto needs two readings of nodes that agree: of two urls, with more
 * sources for their root than for the claimed one; or of one url, `recheckMs` apart, if the stored facts agree and no url
 * contradicts. A node that lies alone has neither; one that lags has no result. Pure.
 */
export function judgeReadings(
  claimed: RootResult,
  readings: readonly RootReading[],
  { recheckMs }: { recheckMs: number },
): RootVerdict {
  const told = readings.flatMap(({ result, ...reading }) => (result ? [{ ...reading, result }] : []))
  const count = (of: RootResult, kind: RootReading['kind']) =>
    told.filter((each) => each.kind === kind && isSameResult(each.result, of)).length
  const urlsForClaimed = count(claimed, 'node')
  const isVeto = told.some(({ kind, result: other, ...reading }) => {
    if (kind === 'stored' || isSameResult(other, claimed)) return false
    const [urls, stored] = [count(other, 'node'), count(other, 'stored')]
    if (urls >= 2) return urls + stored > urlsForClaimed + count(claimed, 'stored')
    return stored === 1 && urlsForClaimed === 0 && isHeld(reading, recheckMs)
  })
  if (isVeto) return 'veto'
  if (told.some((reading) => contradicts(claimed, reading))) return 'alarm'
  return told.length > 0 && told.length === readings.length ? 'right' : 'open'
}

/** Whether a source says something against a root; one that cannot tell says nothing. */
export function contradicts(
  claimed: RootResult,
  { result, problems }: Pick<RootReading, 'result' | 'problems'>,
): boolean {
  return result !== undefined && (!isSameResult(result, claimed) || problems.length > 0)
}

/** Whether a source came to the same result twice, at least `recheckMs` apart. */
function isHeld({ since, readAt }: Pick<RootReading, 'since' | 'readAt'>, recheckMs: number): boolean {
  const apart = readAt.getTime() - since.getTime()
  return apart > 0 && apart >= recheckMs
}

/** Whether a source is to be asked about a root: for the first time, because it could not tell, or to confirm another root. Pure. */
export function isDue(
  claimed: RootResult,
  reading: RootReading | undefined,
  { now, recheckMs }: { now: Date; recheckMs: number },
): boolean {
  if (!reading) return true
  const passed = now.getTime() - reading.readAt.getTime()
  if (!reading.result) return passed >= retryMs && now.getTime() - reading.since.getTime() < patienceMs
  if (isSameResult(reading.result, claimed) || isHeld(reading, recheckMs)) return false
  return passed > 0 && passed >= recheckMs
}

/** The reading that follows on another one of the same source. Pure. */
export function follow(
  before: RootReading | undefined,
  { readAt, ...counted }: Omit<RootReading, 'since'>,
): RootReading {
  const [was, is] = [before?.result, counted.result]
  const isSame = was && is ? isSameResult(was, is) : was === is
  return { ...counted, readAt, since: before && isSame ? before.since : readAt }
}

/** A wallet whose leaf differs: its amounts in the tree (several: it has several leaves), and the amount by a source. */
export type LeafDifference = { wallet: string; inTree: readonly bigint[]; counted: bigint | undefined }

/** The wallets whose leaves in a tree are not those that a source comes to, by address. Pure. */
export function compareLeaves(tree: readonly Leaf[], counted: readonly Leaf[]): LeafDifference[] {
  const held = new Map<string, bigint[]>()
  for (const { wallet, cumulative } of tree) held.set(wallet, [...(held.get(wallet) ?? []), cumulative])
  const earned = new Map(counted.map(({ wallet, cumulative }) => [wallet, cumulative]))
  const differences: LeafDifference[] = []
  for (const wallet of new Set([...held.keys(), ...earned.keys()])) {
    const [inTree, own] = [held.get(wallet) ?? [], earned.get(wallet)]
    if (inTree.length !== 1 || inTree[0] !== own) differences.push({ wallet, inTree, counted: own })
  }
  return differences.sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
}

/** A difference as a sentence. */
export function describeLeaf({ wallet, inTree, counted }: LeafDifference): string {
  if (inTree.length === 0) return `${wallet} is missing: it has earned ${counted}`
  if (inTree.length > 1)
    return `${wallet} has ${inTree.length} leaves, of ${inTree.join(' and ')}: it has earned ${counted ?? 0n}`
  return `${wallet} has ${inTree[0]}, and has earned ${counted ?? 0n}`
}

/** Contradictions of a root with its own leaves, a sentence each. Pure. */
export function checkTree({ root, total }: RootResult, leaves: readonly Leaf[]): string[] {
  const found = buildTree(leaves)?.root ?? null
  const sum = leaves.reduce((all, { cumulative }) => all + cumulative, 0n)
  return [
    ...(found === root ? [] : [found === null ? 'its leaves have no root' : `its leaves have the root ${found}`]),
    ...(sum === total ? [] : [`its leaves are ${sum} in all, and it says ${total}`]),
  ]
}
