import type { Queryable } from '../../postgres/pool.js'
import { findOutgoing } from '../../rpc/sender/index.js'
import { isVetoable } from './commitDecision.js'
import { listRoots } from './storeEvents.js'
import { listTaken, recordVeto, type TakenSnapshot } from './storeSnapshots.js'

/**
 * Vetoes the newest snapshot of a stream, if its root is not on the chain and no transaction may bring it there. Returns its
 * instant (unix seconds), or undefined.
 */
export async function vetoSnapshot(db: Queryable, streamId: string, at: Date): Promise<number | undefined> {
  const snapshot = (await listTaken(db, [streamId])).get(streamId)?.counted
  if (!snapshot) return undefined
  const [held] = await listRoots(db, [streamId])
  if (!isVetoable({ snapshot, held, sent: await findSent(db, snapshot) })) return undefined
  const { id, commitId } = snapshot
  return (await recordVeto(db, { id, commitId, at })) ? snapshot.at : undefined
}

/** Vetoes the snapshot of a commit that an operator cancelled. Returns whether it was vetoed. */
export async function vetoCancelled(db: Queryable, snapshot: TakenSnapshot, at: Date): Promise<boolean> {
  const sent = await findSent(db, snapshot)
  if (sent?.state !== 'cancelled') return false
  const { id, streamId, commitId } = snapshot
  const [held] = await listRoots(db, [streamId])
  return isVetoable({ snapshot, held, sent }) && recordVeto(db, { id, commitId, at })
}

/** The last transaction that was to commit a snapshot; undefined: none yet; null: one that is not known any more. */
export async function findSent(db: Queryable, { commitId }: Pick<TakenSnapshot, 'commitId'>) {
  return commitId === null ? undefined : ((await findOutgoing(db, commitId)) ?? null)
}
