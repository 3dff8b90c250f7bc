import { toUnixSeconds } from '../../kernel/clock.js'
import { newId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { findBlockAt } from '../../rpc/blockAt.js'
import { readBlock } from '../../rpc/blocks.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import { findStreamTarget, isPastAwaited, type StreamTarget } from '../../snapshots/index.js'
import { findCursor, isAtHead } from '../../sync/storeCursors.js'
import { findDepth } from '../../sync/storeDepths.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { recordAwaited } from '../paid/index.js'
import { createWeigher } from './adapters.js'
import { computeSnapshot } from './amounts.js'
import { findDueInstant, findUsedUpEnd } from './instants.js'
import { encodeRewardFile, hashHoldings, toResult } from './rewards/rewardFile.js'
import { findRewardDecimals, findTerms, isPlainToken, readInputs } from './snapshotInputs.js'
import { isTargetRead, listTaken, recordSnapshot, type TakenSnapshot } from './storeSnapshots.js'
import { endUsedUp, listStreams, type StreamRow } from './storeStreams.js'
import { vetoCancelled } from './veto.js'

/** The context of the jobs of streams. */
export type StreamJobContext = ChainContext & CatalogueContext

export type SnapshotSettings = {
  /** Seconds between snapshots; they lie on the grid of it. */
  everySeconds: number
  /** Seconds after which a stream without an end ends once its budget is used up; absent: never. */
  usedUpSeconds?: number
}

/** How long to wait for the share price of an instant (measured from the last one read, for the past); then the last known price counts. */
const readingSeconds = 3_600

/**
 * Ends the streams that are used up, and takes the due snapshots of all streams. A failure of one stream is logged and retried
 * by the next run.
 */
export async function runStreamSnapshots(ctx: StreamJobContext, settings: SnapshotSettings): Promise<void> {
  const streams = (await listStreams(ctx.db, {})).filter((stream) => !stream.snapshotComputationPaused)
  const taken = await listTaken(
    ctx.db,
    streams.map(({ id }) => id),
  )
  await endStreams(ctx, { streams, taken }, settings)
  const finals = new Map<number, Promise<Header | undefined>>()
  for (const stream of streams) {
    const { counted, newest } = taken.get(stream.id) ?? {}
    const chain = ctx.chains.get(stream.targetChainId)
    if (!chain || newest?.isLast) continue
    try {
      const asked = finals.get(chain.chainId) ?? readFinal(ctx, chain)
      finals.set(chain.chainId, asked)
      const final = await asked
      if (!final) continue
      const to = findDueInstant({
        ...{ startAt: toUnixSeconds(stream.startsAt), endAt: stream.endsAt && toUnixSeconds(stream.endsAt) },
        ...{ lastAt: newest?.at ?? null, isLastTaken: false, finalAt: final.timestamp },
        everySeconds: settings.everySeconds,
      })
      if (to !== undefined) await takeSnapshot(ctx, { stream, chain, final, to, previous: counted })
    } catch (error) {
      ctx.log.warn({ err: error, streamId: stream.id }, 'a snapshot of a stream could not be taken')
    }
  }
}

type Listed = { streams: readonly StreamRow[]; taken: Awaited<ReturnType<typeof listTaken>> }

/** The snapshot of the end is taken once that has come. */
async function endStreams(
  { db, clock, log }: StreamJobContext,
  { streams, taken }: Listed,
  { everySeconds, usedUpSeconds = Number.POSITIVE_INFINITY }: SnapshotSettings,
): Promise<void> {
  const at = clock.now()
  for (const { id, endsAt: known } of streams) {
    const { counted } = taken.get(id) ?? {}
    const usedUpAt = counted?.state.own.exhaustedAt ?? null
    const end = findUsedUpEnd({ hasEnd: known !== null, usedUpAt, now: toUnixSeconds(at), usedUpSeconds, everySeconds })
    if (!counted || end === undefined) continue
    const endsAt = new Date(end * 1_000)
    if (await inTransaction(db, (tx) => endUsedUp(tx, { id, snapshotAt: counted.at, endsAt, at })))
      log.info({ streamId: id, endsAt: endsAt.toISOString() }, 'the budget of a stream is used up: it is ended')
  }
}

/**
 * Takes the vetoed or cancelled snapshot of the end again. Returns `taken`, or the reason why it was not.
 */
export async function retakeSnapshot(ctx: StreamJobContext, streamId: string): Promise<'taken' | string> {
  const [stream] = await listStreams(ctx.db, { ids: [streamId] })
  if (!stream) return 'there is no confirmed stream of this id'
  const chain = ctx.chains.get(stream.targetChainId)
  if (!chain) return `chain ${stream.targetChainId} has no RPC url`
  const held = (await listTaken(ctx.db, [streamId])).get(streamId)?.counted
  if (held?.isLast) await vetoCancelled(ctx.db, held, ctx.clock.now())
  const { counted, newest } = (await listTaken(ctx.db, [streamId])).get(streamId) ?? {}
  if (!newest?.isLast || counted?.isLast) return 'its snapshot at the end is not vetoed'
  const final = await readFinal(ctx, chain)
  if (!final || final.timestamp <= newest.at) return 'no later block is final'
  const isTaken = await takeSnapshot(ctx, { stream, chain, final, to: newest.at, previous: counted })
  return isTaken ? 'taken' : 'what it rests on is not read as far yet'
}

/**
 * The newest block that is final and derived; undefined while the chain is catching up: missed snapshots are not taken later. A
 * source that joined later and is still being read delays only the streams that depend on it.
 */
async function readFinal(ctx: Pick<Context, 'db'>, chain: Chain): Promise<Header | undefined> {
  const cursor = await findCursor(ctx.db, chain.chainId)
  if (!cursor || cursor.finalizedNumber === null || !isAtHead(cursor)) return undefined
  const number = Math.min(cursor.finalizedNumber, cursor.blockNumber)
  return number < cursor.startBlock ? undefined : readBlock(chain, number)
}

type Due = {
  stream: StreamRow
  chain: Chain
  final: Header
  to: number
  previous: TakenSnapshot | undefined
}

/** False while something it rests on is still to be read, or another process took it. */
async function takeSnapshot(ctx: StreamJobContext, { stream, chain, final, to, previous }: Due): Promise<boolean> {
  const { db, clock } = ctx
  const target = await findStreamTarget(db, stream.targetVaultId)
  if (!target) return false
  const terms = await findTerms(db, stream, await findRewardDecimals(ctx, stream))
  const hasLots = createWeigher(terms.adapters).distributors.size > 0
  if (!(await isTargetRead(db, { chainId: chain.chainId, address: target.address, hasLots }))) return false
  if (await isPriceAwaited(ctx, { stream, target, previous, to })) return false
  if (!(await isBudgetKnown(ctx, stream, to))) return false
  const block = await findBlockAt(chain, final, to)
  if (!block) return false
  const inputs = await readInputs(db, {
    ...{ stream, terms, target, previous, to },
    block: { number: block.number, hash: block.hash },
  })
  if (inputs.awaited.length > 0 && toUnixSeconds(clock.now()) - to < readingSeconds) {
    await recordAwaited(db, stream.targetVaultId, inputs.awaited)
    return false
  }
  const { amounts, states } = computeSnapshot(terms, inputs.facts, to, inputs.from, inputs.shown)
  const file = encodeRewardFile(inputs, toResult(amounts.wallets))
  const { observations } = inputs.origin
  const pins = { holdings: hashHoldings(inputs.facts), observations: [...new Set(observations)] }
  const isTaken = await inTransaction(db, (tx) =>
    recordSnapshot(tx, {
      ...{ id: newId(), streamId: stream.id, targetChainId: chain.chainId, block, previousId: previous?.id ?? null },
      ...{ isLast: to === terms.endAt, amounts, states, pins, file, createdAt: clock.now() },
    }),
  )
  if (isTaken)
    ctx.log.info({ streamId: stream.id, at: to, users: amounts.userCount }, 'a snapshot of a stream is taken')
  return isTaken
}

/** Whether share prices are still to be read that the snapshot rests on: of its instant, or of the time before. */
async function isPriceAwaited(
  { db, clock }: StreamJobContext,
  { stream, target, previous, to }: Pick<Due, 'stream' | 'previous' | 'to'> & { target: StreamTarget },
): Promise<boolean> {
  if (isPlainToken(target)) return false
  if (isReadingAwaited(target, to, toUnixSeconds(clock.now()))) return true
  const from = previous?.at ?? toUnixSeconds(stream.startsAt)
  const since = new Date(clock.now().getTime() - readingSeconds * 1_000)
  return isPastAwaited(db, { vaultId: stream.targetVaultId, from, to, since })
}

/** Whether the share price of the instant is still to be read. */
function isReadingAwaited({ seenTo, snapshotIntervalSeconds }: StreamTarget, to: number, now: number): boolean {
  return seenTo !== null && seenTo + snapshotIntervalSeconds <= to && now - to < readingSeconds
}

/** Whether every increase of the budget by the instant is known: a later block of the reward's chain is confirmed. */
async function isBudgetKnown({ db }: Pick<Context, 'db'>, { chainId }: StreamRow, to: number): Promise<boolean> {
  if (chainId === null) return true
  const depth = await findDepth(db, chainId)
  return depth?.confirmedAt ? toUnixSeconds(depth.confirmedAt) > to : false
}
