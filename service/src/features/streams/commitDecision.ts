import { toUnixSeconds } from '../../kernel/clock.js'
import type { OutgoingState } from '../../rpc/sender/index.js'

/** Time after which a commit that did not bring its root to the chain is repeated. */
export const retryMs = 600_000

/** A root as a contract holds it, or as it is to hold it. */
export type RootWithTotal = { root: string; total: bigint }

/** The state of a transaction that was to commit a root; null: it is no longer known. */
export type Sent = { state: OutgoingState; blockNumber: number | null } | null

/** The input of a decision about the newest snapshot of a stream that is not vetoed. */
export type CommitCourse = {
  snapshot: {
    /** Unix seconds. */
    at: number
    root: string | null
    rootedAt: Date | null
    /** The sum of what is allocated by the root. */
    total: bigint
    updatedAt: Date
  }
  /** The newest root of the stream's contract, as far as its chain is derived. */
  held: (RootWithTotal & { rootAt: Date }) | undefined
  /** The last transaction that was to commit it; undefined: none yet. */
  sent: Sent | undefined
  /** The commits of snapshots between that root and this one. */
  before: readonly Sent[]
  /** The last block of the stream's chain that is final and derived; undefined: none. */
  finalTo: number | undefined
  vetoSeconds: number
  now: Date
}

/**
 * The decision about the newest snapshot of a stream: commit its root for the first time, or again because no transaction
 * brought it to the chain, or veto the snapshot because an operator cancelled its commit.
 */
export type CommitDecision = 'nothing to commit' | 'stands' | 'wait' | 'commit' | 'commit again' | 'veto'

/** Decides about a commit; pure. A stream has one at a time on its way, so that none is made that changes nothing. */
export function decideCommit(course: CommitCourse): CommitDecision {
  const { snapshot, held, sent, before, finalTo, vetoSeconds, now } = course
  const { root, rootedAt, total, at } = snapshot
  if (root === null || rootedAt === null || total === 0n) return 'nothing to commit'
  if (held && isDone(held, { at, root, total })) return 'stands'
  if ([sent, ...before].some((each) => each && isUnderWay(each, finalTo))) return 'wait'
  if (sent === undefined) return rootedAt.getTime() + vetoSeconds * 1_000 > now.getTime() ? 'wait' : 'commit'
  if (sent?.state === 'cancelled') return 'veto'
  return now.getTime() - snapshot.updatedAt.getTime() < retryMs ? 'wait' : 'commit again'
}

/**
 * Whether a contract wants nothing more of a snapshot: it takes no root of an instant at or before that of its newest one,
 * and gains nothing by the one it holds. Pure.
 */
export function isDone(
  held: RootWithTotal & { rootAt: Date },
  { at, root, total }: { at: number; root: string | null; total: bigint },
): boolean {
  if (toUnixSeconds(held.rootAt) >= at) return true
  return root !== null && isSameRoot(held, { root, total })
}

/** Whether a transaction may still bring its root: until its block is final it is the sender that sees to it. */
function isUnderWay({ state, blockNumber }: NonNullable<Sent>, finalTo: number | undefined): boolean {
  if (state === 'queued' || state === 'sent') return true
  return state === 'confirmed' && (blockNumber === null || finalTo === undefined || finalTo < blockNumber)
}

/** Whether a contract that holds one root gains nothing by the other. */
export function isSameRoot(held: RootWithTotal, other: RootWithTotal): boolean {
  return held.root === other.root && held.total === other.total
}

/**
 * Whether the newest root of a contract stops the commits of its stream: this service did not build it, and no operator has
 * acknowledged it. When an operator resumes the commits, the alarm stays and names the root. Pure.
 */
export function isForeignRoot(
  held: { root: string } | undefined,
  { isOwn, alarm }: { isOwn: boolean; alarm: string | null },
): boolean {
  return held !== undefined && !isOwn && alarm?.includes(held.root) !== true
}

/** Whether a snapshot can still be vetoed: its root is not on the chain, and no transaction may bring it there. Pure. */
export function isVetoable({
  snapshot,
  held,
  sent,
}: Pick<CommitCourse, 'held' | 'sent'> & { snapshot: { at: number } }) {
  if (held && toUnixSeconds(held.rootAt) >= snapshot.at) return false
  return !sent || sent.state === 'cancelled' || sent.state === 'failed' || sent.state === 'reverted'
}
