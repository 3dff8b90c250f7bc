import { streamAbi } from '@openearn/contracts'
import { encodeFunctionData, type Hex } from 'viem'
import { toUnixSeconds } from '../../kernel/clock.js'
import { derivedId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { recordOutgoing } from '../../rpc/sender/index.js'
import { findCursor } from '../../sync/storeCursors.js'
import { decideCommit, isDone, isForeignRoot } from './commitDecision.js'
import { toResult } from './rewards/rewardFile.js'
import { type HeldRoot, listRoots } from './storeEvents.js'
import {
  listCommitsBetween,
  listEarned,
  listOwnRoots,
  listTaken,
  recordCommit,
  recordRoot,
  restoreHeld,
  rootKey,
  type TakenSnapshot,
} from './storeSnapshots.js'
import { listStreams, type StreamRow, updatePause } from './storeStreams.js'
import { findSent, vetoCancelled } from './veto.js'

export type CommitSettings = {
  /** Seconds after the computation of its tree during which an operator may veto a root. */
  vetoSeconds: number
  /** Who commits on a chain, lower-case; undefined: nobody. */
  committerOf(chainId: number): string | undefined
  /** The most a commit may cost, in the smallest unit of the native token. */
  costMax: bigint
}

type JobContext = Pick<Context, 'db' | 'clock' | 'log'>

/** Computes the trees of the newest snapshots that have none. */
export async function runStreamTrees({ db, clock, log }: JobContext): Promise<void> {
  for (const { stream, snapshot } of await listNewest(db, await listStreams(db, {}))) {
    if (stream.merkleTreeComputationPaused || snapshot.rootedAt !== null) continue
    const { root } = toResult(await listEarned(db, snapshot.id))
    if (root === null) continue
    await recordRoot(db, snapshot.id, root, clock.now())
    log.info({ streamId: stream.id, at: snapshot.at, root }, 'the tree of a snapshot is computed')
  }
}

/**
 * Sees to it that the newest root of each stream nobody has vetoed in time comes to the chain, one commit at a time. A commit
 * that an operator cancelled is a veto. A root on chain that is not ours stops the commits of its stream.
 */
export async function runStreamCommits(ctx: JobContext, settings: CommitSettings): Promise<void> {
  const { db, clock, log } = ctx
  const streams = await listStreams(db, {})
  await restore(ctx, streams)
  const roots = await listRootsOf(db, streams)
  const foreign = await stopForeign(ctx, streams, roots)
  for (const { stream, snapshot } of await listNewest(db, streams)) {
    const isPaused = stream.hashCommitmentPaused || foreign.has(stream.id)
    const [held] = roots.get(stream.id) ?? []
    try {
      await settle(ctx, { stream, snapshot, held, isPaused }, settings)
    } catch (error) {
      log.warn({ err: error, streamId: stream.id, at: clock.now() }, 'the root of a stream could not be committed')
    }
  }
}

type Newest = { stream: StreamRow; snapshot: TakenSnapshot }

async function listNewest(db: Context['db'], streams: readonly StreamRow[]): Promise<Newest[]> {
  const taken = await listTaken(
    db,
    streams.map(({ id }) => id),
  )
  return streams.flatMap((stream) => {
    const snapshot = taken.get(stream.id)?.counted
    return snapshot ? [{ stream, snapshot }] : []
  })
}

type Course = Newest & { held: HeldRoot | undefined; isPaused: boolean }

async function settle(ctx: JobContext, course: Course, settings: CommitSettings): Promise<void> {
  const { db, clock, log } = ctx
  const { stream, snapshot, held, isPaused } = course
  const { chainId, contract } = stream
  const { at, root, rootedAt, updatedAt, amountDistributed: total } = snapshot
  // Of most streams nothing is to be done, which is told without what became of transactions.
  if (chainId === null || contract === null || (held && isDone(held, { at, root, total }))) return
  const sent = await findSent(db, snapshot)
  const above = held ? toUnixSeconds(held.rootAt) : 0
  const commits = await listCommitsBetween(db, { streamId: stream.id, above, below: at, limit: 4 })
  const decision = decideCommit({
    ...{ snapshot: { at, root, rootedAt, total, updatedAt }, held, sent, now: clock.now() },
    before: await Promise.all(commits.map(async (commitId) => (await findSent(db, { commitId })) ?? null)),
    finalTo: await findFinal(db, chainId),
    vetoSeconds: settings.vetoSeconds,
  })
  if (decision === 'veto') {
    if (await vetoCancelled(db, snapshot, clock.now()))
      log.warn({ streamId: stream.id, at, root, isLast: snapshot.isLast }, 'the commit of a root was cancelled: a veto')
    return
  }
  if (isPaused || (decision !== 'commit' && decision !== 'commit again')) return
  if (decision === 'commit again')
    log.warn({ streamId: stream.id, root, state: sent?.state, why: sent?.reason }, 'a root is committed again')
  await queue(ctx, { ...course, chainId, contract }, settings)
}

async function findFinal(db: Context['db'], chainId: number): Promise<number | undefined> {
  const cursor = await findCursor(db, chainId)
  return cursor ? Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber) : undefined
}

/** The id of the transaction follows from the snapshot and the number of tries, so that a repetition queues the same one. */
async function queue(
  { db, clock }: JobContext,
  { stream, snapshot, chainId, contract }: Newest & { chainId: number; contract: string },
  { committerOf, costMax }: CommitSettings,
): Promise<void> {
  const { id, at, root, commitId, amountDistributed: total } = snapshot
  const sender = committerOf(chainId)
  if (sender === undefined) return
  const now = clock.now()
  const next = derivedId(`commit:${id}:${commitId ?? ''}`)
  await inTransaction(db, async (tx) => {
    if (!(await recordCommit(tx, { id, commitId: next, instead: commitId, at: now }))) return
    const data = encodeFunctionData({ abi: streamAbi, functionName: 'updateRoot', args: [root as Hex, at, total] })
    await recordOutgoing(
      tx,
      { id: next, chainId, sender, to: contract, data, value: 0n, costMax, purpose: `root of stream ${stream.id}` },
      now,
    )
  })
}

/** A root that stands on the chain is committed, whatever was said of it before. */
async function restore({ db, clock, log }: JobContext, streams: readonly StreamRow[]): Promise<void> {
  const ids = streams.map(({ id }) => id)
  const restored = await inTransaction(db, (tx) => restoreHeld(tx, ids, clock.now()))
  for (const { streamId, at } of restored)
    log.warn({ streamId, at }, 'the root of a vetoed snapshot stands on the chain: the snapshot counts again')
}

/** Roots as they stand on the chains, by stream, the newest first. */
async function listRootsOf(
  db: Context['db'],
  streams: readonly StreamRow[],
): Promise<ReadonlyMap<string, readonly HeldRoot[]>> {
  const byStream = new Map<string, HeldRoot[]>()
  const ids = streams.map(({ id }) => id)
  for (const root of await listRoots(db, ids))
    byStream.set(root.streamId, [...(byStream.get(root.streamId) ?? []), root])
  return byStream
}

/** Pauses the commits of streams whose newest root this service did not build; roots that an operator has acknowledged are ignored. */
async function stopForeign(
  { db, clock, log }: JobContext,
  streams: readonly StreamRow[],
  roots: ReadonlyMap<string, readonly HeldRoot[]>,
): Promise<ReadonlySet<string>> {
  const own = await listOwnRoots(
    db,
    streams.map(({ id }) => id),
  )
  const stopped = new Set<string>()
  for (const stream of streams) {
    const [newest] = roots.get(stream.id) ?? []
    const isOwn = newest !== undefined && own.has(rootKey(stream.id, newest.root, toUnixSeconds(newest.rootAt)))
    if (!newest || !isForeignRoot(newest, { isOwn, alarm: stream.alarm })) continue
    const alarm = `the root ${newest.root} of ${newest.rootAt.toISOString()} was committed in ${newest.transactionHash}, and this service did not build it`
    const at = clock.now()
    await inTransaction(db, (tx) =>
      updatePause(tx, stream.id, { flag: 'hashCommitmentPaused', paused: true, alarm, at }),
    )
    log.error(
      { streamId: stream.id, root: newest.root },
      'a root that is not ours stands in a stream: commits are stopped',
    )
    stopped.add(stream.id)
  }
  return stopped
}
