import { streamAbi } from '@openearn/contracts'
import { encodeFunctionData, type Hex } from 'viem'
import { toUnixSeconds } from '../../kernel/clock.js'
import { derivedId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { findOutgoing, recordOutgoing } from '../../rpc/sender/index.js'
import { toResult } from './rewardFile.js'
import { listRoots } from './storeEvents.js'
import {
  listEarned,
  listOwnRoots,
  listTaken,
  recordCommit,
  recordRoot,
  rootKey,
  type TakenSnapshot,
} from './storeSnapshots.js'
import { listStreams, type StreamRow, updatePause } from './storeStreams.js'

export type CommitSettings = {
  /** An operator may veto a root so long after its tree was computed. */
  vetoSeconds: number
  /** Who commits on a chain, lower-case; undefined: nobody. */
  committerOf(chainId: number): string | undefined
}

/** A commit that was not sent, for it would revert, or that reverted, is tried again after so long. */
const retryMs = 600_000

type JobContext = Pick<Context, 'db' | 'clock' | 'log'>

/** Computes the trees of the newest snapshots that have none. */
export async function runStreamTrees({ db, clock, log }: JobContext): Promise<void> {
  for (const { stream, snapshot } of await listNewest(db)) {
    if (stream.merkleTreeComputationPaused || snapshot.rootedAt !== null) continue
    const { root } = toResult(await listEarned(db, snapshot.id))
    if (root === null) continue
    await recordRoot(db, snapshot.id, root, clock.now())
    log.info({ streamId: stream.id, at: snapshot.at, root }, 'the tree of a snapshot is computed')
  }
}

/**
 * Queues the commits of roots nobody has vetoed in time, the newest of each stream and one at a time. A root on chain that
 * is not ours stops the commits of its stream.
 */
export async function runStreamCommits(ctx: JobContext, settings: CommitSettings): Promise<void> {
  const { db, clock, log } = ctx
  const newest = await listNewest(db)
  const foreign = await stopForeign(
    ctx,
    newest.map(({ stream }) => stream),
  )
  for (const { stream, snapshot } of newest) {
    if (stream.hashCommitmentPaused || foreign.has(stream.id)) continue
    try {
      await commit(ctx, stream, snapshot, settings)
    } catch (error) {
      log.warn({ err: error, streamId: stream.id, at: clock.now() }, 'the root of a stream could not be committed')
    }
  }
}

async function listNewest(db: Context['db']): Promise<{ stream: StreamRow; snapshot: TakenSnapshot }[]> {
  const streams = await listStreams(db, {})
  const taken = await listTaken(
    db,
    streams.map(({ id }) => id),
  )
  return streams.flatMap((stream) => {
    const snapshot = taken.get(stream.id)?.counted
    return snapshot ? [{ stream, snapshot }] : []
  })
}

/** The transaction is chosen by the snapshot and the tries before, so whoever queues it again queues the same. */
async function commit(
  { db, clock, log }: JobContext,
  stream: StreamRow,
  snapshot: TakenSnapshot,
  { vetoSeconds, committerOf }: CommitSettings,
): Promise<void> {
  const { id, root, rootedAt, commitId, amountDistributed } = snapshot
  const { chainId, contract } = stream
  if (chainId === null || contract === null || root === null || rootedAt === null || amountDistributed === 0n) return
  const sender = committerOf(chainId)
  const now = clock.now()
  if (sender === undefined || rootedAt.getTime() + vetoSeconds * 1_000 > now.getTime()) return
  const roots = (await listRoots(db, [stream.id])).filter(({ streamId }) => streamId === stream.id)
  if (roots.some(({ rootAt }) => toUnixSeconds(rootAt) >= snapshot.at)) return
  if (commitId !== null) {
    const sent = await findOutgoing(db, commitId)
    const hasFailed = sent?.state === 'failed' || sent?.state === 'reverted'
    if (!hasFailed || now.getTime() - snapshot.updatedAt.getTime() < retryMs) return
    log.warn({ streamId: stream.id, root, why: sent.reason }, 'the commit of a root is tried again')
  }
  const next = derivedId(`commit:${id}:${commitId ?? ''}`)
  await inTransaction(db, async (tx) => {
    if (!(await recordCommit(tx, { id, commitId: next, instead: commitId, at: now }))) return
    const data = encodeFunctionData({
      abi: streamAbi,
      functionName: 'updateRoot',
      args: [root as Hex, snapshot.at, amountDistributed],
    })
    await recordOutgoing(
      tx,
      { id: next, chainId, sender, to: contract, data, value: 0n, purpose: `root of stream ${stream.id}` },
      now,
    )
  })
}

/** Pauses the commits of streams whose newest root is none of ours; one an operator knows of already is let be. */
async function stopForeign(
  { db, clock, log }: JobContext,
  streams: readonly StreamRow[],
): Promise<ReadonlySet<string>> {
  const ids = streams.map(({ id }) => id)
  const [roots, own] = await Promise.all([listRoots(db, ids), listOwnRoots(db, ids)])
  const stopped = new Set<string>()
  for (const stream of streams) {
    const newest = roots.find(({ streamId }) => streamId === stream.id)
    if (!newest || own.has(rootKey(stream.id, newest.root, toUnixSeconds(newest.rootAt)))) continue
    if (stream.alarm?.includes(newest.root)) continue
    const alarm = `the root ${newest.root} of ${newest.rootAt.toISOString()} was committed in ${newest.transactionHash}, and is none of ours`
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
