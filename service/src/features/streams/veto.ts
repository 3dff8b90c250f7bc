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
  return snapshot && (await vetoTaken(db, snapshot, at)) ? snapshot.at : undefined
}

/** Vetoes a snapshot, unless its root is on the chain or a transaction may bring it there. Returns whether it was vetoed. */
export async function vetoTaken(db: Queryable, snapshot: TakenSnapshot, at: Date): Promise<boolean> {
  const { id, streamId, commitId } = snapshot
  const [held] = await listRoots(db, [streamId])
  const sent = await findSent(db, snapshot)
  return isVetoable({ snapshot, held, sent }) && recordVeto(db, { id, commitId, at })
}

/** Vetoes the snapshot of a commit that an operator cancelled. Returns whether it was vetoed. */
export async function vetoCancelled(db: Queryable, snapshot: TakenSnapshot, at: Date): Promise<boolean> {
  const sent = await findSent(db, snapshot)
  return sent?.state === 'cancelled' && vetoTaken(db, snapshot, at)
}

/** The last transaction that was to commit a snapshot; undefined: none yet; null: one that is not known any more. */
export async function findSent(db: Queryable, { commitId }: Pick<TakenSnapshot, 'commitId'>) {
  return commitId === null ? undefined : ((await findOutgoing(db, commitId)) ?? null)
}
