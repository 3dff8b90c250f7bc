import { streamAbi } from '@openearn/contracts'
import { encodeFunctionData, type Hex } from 'viem'
import { toUnixSeconds } from '../../kernel/clock.js'
import { derivedId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { findOutgoing, recordOutgoing } from '../../rpc/sender/index.js'
import { toResult } from './rewardFile.js'
import { type HeldRoot, listRoots } from './storeEvents.js'
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
  /** The most a commit may cost, in the smallest unit of the native token. */
  costMax: bigint
}

/** A commit that was not sent, for it would revert, or that reverted, is tried again after so long. */
const retryMs = 600_000

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
 * Queues the commits of roots nobody has vetoed in time, the newest of each stream and one at a time. A root on chain that
 * is not ours stops the commits of its stream.
 */
export async function runStreamCommits(ctx: JobContext, settings: CommitSettings): Promise<void> {
  const { db, clock, log } = ctx
  const streams = await listStreams(db, {})
  const roots = await listRootsOf(db, streams)
  const foreign = await stopForeign(ctx, streams, roots)
  for (const { stream, snapshot } of await listNewest(db, streams)) {
    if (stream.hashCommitmentPaused || foreign.has(stream.id)) continue
    try {
      await commit(ctx, { stream, snapshot, roots: roots.get(stream.id) ?? [] }, settings)
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

/** The transaction is chosen by the snapshot and the tries before, so whoever queues it again queues the same. */
async function commit(
  { db, clock, log }: JobContext,
  { stream, snapshot, roots }: Newest & { roots: readonly HeldRoot[] },
  { vetoSeconds, committerOf, costMax }: CommitSettings,
): Promise<void> {
  const { id, root, rootedAt, commitId, amountDistributed } = snapshot
  const { chainId, contract } = stream
  if (chainId === null || contract === null || root === null || rootedAt === null || amountDistributed === 0n) return
  const sender = committerOf(chainId)
  const now = clock.now()
  if (sender === undefined || rootedAt.getTime() + vetoSeconds * 1_000 > now.getTime()) return
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
      { id: next, chainId, sender, to: contract, data, value: 0n, costMax, purpose: `root of stream ${stream.id}` },
      now,
    )
  })
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

/** Pauses the commits of streams whose newest root is none of ours; one an operator knows of already is let be. */
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
