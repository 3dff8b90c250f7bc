import type { Queryable } from '../../postgres/pool.js'
import { listOutgoingStates, type OutgoingRow } from '../../rpc/sender/index.js'
import { isDone, isVetoable } from './commitDecision.js'
import { type HeldRoot, listRoots } from './storeEvents.js'
import { type DoubtedRoot, listDoubtedRoots } from './storeRootReadings.js'
import { listTaken, type TakenSnapshot } from './storeSnapshots.js'
import { listStreams, type StreamRow } from './storeStreams.js'

/** Where the newest snapshot of a stream that counts stands on its way to the chain. */
export type Standing = 'no root yet' | 'may be vetoed' | 'awaits its commit' | 'is being committed' | 'committed'

type Commit = { id: string } & Pick<OutgoingRow, 'state' | 'held' | 'reason'>

/** A stream whose newest root is not on its chain, or that an operator has to look at. */
export type AwaitingStream = Pick<StreamRow, 'id' | 'chainId' | 'contract' | 'startsAt' | 'endsAt' | 'alarm'> &
  Pick<
    StreamRow,
    'snapshotComputationPaused' | 'merkleTreeComputationPaused' | 'hashCommitmentPaused' | 'claimPaused'
  > & {
    standing: Standing | null
    /** Of the snapshot; all null where there is none. */
    snapshotAt: Date | null
    root: string | null
    /** All that is allocated by the root, in the smallest unit. */
    total: bigint | null
    /** Until when the root waits for a veto. */
    vetoUntil: Date | null
    isVetoable: boolean
    /** The last transaction that was to commit it. */
    commit: Commit | null
    /** The newest root of the stream, where sources that counted it again contradict it. */
    doubted: Omit<DoubtedRoot, 'streamId'> | null
  }

type Look = { vetoSeconds: number; now: Date }

/**
 * Confirmed streams that pay tokens of which a root awaits its veto time or its commit, and those with an alarm, a root in doubt
 * or a step that is paused, in the order they were created.
 */
export async function listAwaiting(db: Queryable, look: Look): Promise<AwaitingStream[]> {
  const streams = (await listStreams(db, {})).filter(({ chainId }) => chainId !== null)
  const ids = streams.map(({ id }) => id)
  const [taken, roots, doubted] = await Promise.all([listTaken(db, ids), listRoots(db, ids), listDoubtedRoots(db)])
  const doubts = new Map(doubted.map(({ streamId, ...root }) => [streamId, root]))
  // The newest comes first, and counts.
  const held = new Map(roots.toReversed().map((root) => [root.streamId, root]))
  const commitIds = [...taken.values()].flatMap(({ counted }) => counted?.commitId ?? [])
  const states = await listOutgoingStates(db, commitIds)
  return streams
    .map((stream) => {
      const snapshot = taken.get(stream.id)?.counted
      const state = states.get(snapshot?.commitId ?? '')
      const commit = state && snapshot?.commitId ? { id: snapshot.commitId, ...state } : null
      const found = { stream, snapshot, held: held.get(stream.id), commit, doubted: doubts.get(stream.id) ?? null }
      return describeAwaiting(found, look)
    })
    .filter(isAwaiting)
}

type Found = {
  stream: StreamRow
  snapshot: TakenSnapshot | undefined
  held: HeldRoot | undefined
  commit: Commit | null
  doubted: AwaitingStream['doubted']
}

/** Pure. */
export function describeAwaiting({ stream, snapshot, held, commit, doubted }: Found, look: Look): AwaitingStream {
  const { id, chainId, contract, startsAt, endsAt, alarm } = stream
  const { snapshotComputationPaused, merkleTreeComputationPaused, hashCommitmentPaused, claimPaused } = stream
  const shared = {
    ...{ id, chainId, contract, startsAt, endsAt, alarm, doubted },
    ...{ snapshotComputationPaused, merkleTreeComputationPaused, hashCommitmentPaused, claimPaused },
  }
  if (!snapshot)
    return {
      ...{ ...shared, standing: null, snapshotAt: null, root: null, total: null },
      ...{ vetoUntil: null, isVetoable: false, commit: null },
    }
  const { at, root, rootedAt, amountDistributed: total, commitId } = snapshot
  const vetoUntil = rootedAt && new Date(rootedAt.getTime() + look.vetoSeconds * 1_000)
  const standing = findStanding({ snapshot, held, commit, vetoUntil, now: look.now })
  // One that was sent and is not known any more brings nothing, as the veto itself takes it.
  const sent = commitId === null ? undefined : commit && { state: commit.state, blockNumber: null }
  return {
    ...{ ...shared, standing, snapshotAt: new Date(at * 1_000), root, total, vetoUntil },
    ...{ isVetoable: standing !== 'committed' && isVetoable({ snapshot, held, sent }), commit },
  }
}

type Course = Pick<Found, 'held' | 'commit'> & { snapshot: TakenSnapshot; vetoUntil: Date | null; now: Date }

function findStanding({ snapshot, held, commit, vetoUntil, now }: Course): Standing {
  const { at, root, amountDistributed: total, commitId } = snapshot
  if (held && isDone(held, { at, root, total })) return 'committed'
  if (root === null || vetoUntil === null) return 'no root yet'
  if (commit && ['queued', 'sent', 'confirmed'].includes(commit.state)) return 'is being committed'
  return commitId === null && now < vetoUntil ? 'may be vetoed' : 'awaits its commit'
}

const isAwaiting = (stream: AwaitingStream): boolean =>
  (stream.standing !== null && stream.standing !== 'committed' && stream.standing !== 'no root yet') ||
  stream.alarm !== null ||
  stream.doubted !== null ||
  stream.snapshotComputationPaused ||
  stream.merkleTreeComputationPaused ||
  stream.hashCommitmentPaused ||
  stream.claimPaused
