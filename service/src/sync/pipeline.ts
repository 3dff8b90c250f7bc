import type { Context } from '../postgres/context.js'
import { inTransaction, type Transaction } from '../postgres/pool.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import { applyBlocks, applyConfirmed, type DerivedBlocks } from './apply.js'
import { createAwaiting, type Tracing } from './awaited.js'
import { findAdded, findDivergence } from './configuration.js'
import { asksTooMuch, CursorMoved, type Sink } from './follow.js'
import { fetchPast } from './past.js'
import { assertOrder, type Projections } from './projection.js'
import { compareAgain, describeFound, keptSince, repair } from './recheck.js'
import { joinSources, rederive } from './rederive.js'
import { readRequests } from './requestReadings.js'
import {
  type Cursor,
  createCursor,
  findCursor,
  lockCursor,
  lowerFinalized,
  moveCursor,
  recordChecked,
  recordHead,
  recordReorg,
  recordRetractedCount,
} from './storeCursors.js'
import {
  findBlockHash,
  findEndOfWindow,
  listHeadersDown,
  recordBlocks,
  removeEmptyHeaders,
  removeRawAbove,
} from './storeRaw.js'
import { spoilRebuild } from './storeRebuilds.js'
import {
  createSources,
  findConfigurationVersion,
  findConfirmations,
  listDerivations,
  listSources,
  nameSource,
  noteJoin,
  recordDerivedTo,
  recordLines,
  recordSourceProgress,
  restartSource,
  rewindDerivations,
  rewindSourceProgress,
  type SourceProgress,
} from './storeSources.js'
import { type Configured, loadConfigurations, openWith, startBlockOf, type Taken, takeUp, watchAlone } from './taken.js'

/** What is done beside in the transaction of the derived rows. */
export type Reaction = {
  name: string
  onBlocks?(tx: Transaction, chainId: number, blocks: readonly RawBlock[], rows: DerivedBlocks): Promise<void>
  onRewind?(tx: Transaction, chainId: number, ancestor: number): Promise<void>
}

export type PipelineOptions = {
  chainId: number
  projections: Projections
  reactions?: readonly Reaction[]
  /** Blocks of one window when logs of a source added later are fetched. */
  backfillWindow?: number
  /** Absent: nobody is asked how transactions ran. */
  tracing?: Tracing | undefined
}

/** Blocks before the head at the first start that are compared with their headers as all later ones are. */
const followedBefore = 10_000
/**
 * Final blocks looked at again at a time, and how many of them may have logs of ours, so that the head does not wait; that
 * does not count where more than `farFrom` wait. Of a node that refuses so many, half as many are asked, down to `least`.
 */
const recheckWindow = { blocks: 200, withLogs: 32, farFrom: 2_000, least: 32 }
/** Blocks of one window of the past that are not final: each is asked for by itself, and the head waits meanwhile. */
const unfinalWindow = 32
/** Logs that are derived at once where that was put off until they were confirmed. */
const confirmedLogsMax = 10_000

/** The one ordered pipeline of a chain: raw store, projections, reactions and cursor, in one transaction each time. */
export function createPipeline(ctx: Pick<Context, 'db' | 'clock' | 'log'>, options: PipelineOptions): Sink {
  const { db, clock, log } = ctx
  const { chainId, projections } = options
  assertOrder(projections.derived)
  const reactions = options.reactions ?? []
  const awaiting = options.tracing && createAwaiting(ctx, { chainId, tracing: options.tracing })
  let version: string | undefined
  let taken: Taken | undefined
  let recheckBlocks = recheckWindow.blocks

  const current = (): Taken => {
    if (!taken) throw new Error('the pipeline was used before it was refreshed')
    return taken
  }

  const take = (full: readonly Configured[], sources: SourceProgress[]): void => {
    taken = takeUp(full, sources)
  }

  const lock = async (tx: Transaction, cursor: Cursor): Promise<void> => {
    const held = await lockCursor(tx, chainId)
    if (held?.blockNumber !== cursor.blockNumber || held.blockHash !== cursor.blockHash)
      throw new CursorMoved('another process moved the cursor')
  }

  /**
   * The same, for rows that rest on the configuration: were it taken up by another process only, or had that one let a
   * source join, what this one has not watched would be missing from its blocks for good.
   */
  const lockSame = async (tx: Transaction, cursor: Cursor): Promise<void> => {
    await lock(tx, cursor)
    if ((await findConfigurationVersion(tx, chainId)) !== version)
      throw new CursorMoved('the configuration has changed')
  }

  /** Records progress of sources that are still where they were when their logs were read. */
  const advance = async (
    tx: Transaction,
    group: readonly SourceProgress[],
    progress: { from: number; syncedTo: number; synced: boolean },
  ): Promise<void> => {
    const count = await recordSourceProgress(tx, chainId, group, progress)
    if (count !== group.length) throw new CursorMoved('another process moved the sources')
  }

  const reload = async (): Promise<Cursor> => {
    const cursor = await findCursor(db, chainId)
    if (!cursor) throw new CursorMoved('the cursor is gone')
    return cursor
  }

  /** Sources that are new: read from where the chain stands if they start later, else their past is fetched first. */
  const watchNew = async (tx: Transaction, full: readonly Configured[], cursor: Cursor): Promise<SourceProgress[]> => {
    await lock(tx, cursor)
    const known = await listSources(tx, chainId)
    const byName = new Map(known.map((each) => [nameSource(each), each]))
    const fresh: SourceProgress[] = []
    let isEarlier = false
    for (const { projection, sources } of full)
      for (const { key, fromBlock, beside } of sources) {
        if (beside) continue
        const held = byName.get(nameSource({ projection: projection.name, key }))
        if (!held) {
          const synced = fromBlock > cursor.blockNumber
          fresh.push({ projection: projection.name, key, fromBlock, syncedTo: fromBlock - 1, synced })
        } else if (fromBlock < held.fromBlock) {
          // What is to begin earlier than it was read from is read again as a whole.
          await restartSource(tx, chainId, held, fromBlock)
          isEarlier = true
        }
      }
    await createSources(tx, chainId, fresh)
    return isEarlier ? listSources(tx, chainId) : [...known, ...fresh]
  }

  const refreshConfiguration = async (cursor: Cursor): Promise<void> => {
    const full = await loadConfigurations(db, chainId, projections.derived)
    take(full, await inTransaction(db, (tx) => watchNew(tx, full, cursor)))
    const { opened } = current()
    const held = new Map((await listDerivations(db, chainId)).map((each) => [each.name, each.lines]))
    const changed = opened.flatMap(({ projection, config }) => {
      const lines = projection.lines(config)
      const before = held.get(projection.name)
      const from = before ? findDivergence(before, lines) : 0
      if (from !== undefined) return [{ name: projection.name, lines, from }]
      // A thing that is new makes no difference yet; when it is said of otherwise, it will.
      const fresh = findAdded(before ?? [], lines)
      return fresh.length === 0 ? [] : [{ name: projection.name, lines: [...(before ?? []), ...fresh], from: Infinity }]
    })
    if (changed.length === 0) return
    const from = Math.min(...changed.map((each) => each.from))
    await inTransaction(db, async (tx) => {
      await lock(tx, cursor)
      const reaches = cursor.blockTimestamp !== null && from * 1000 <= cursor.blockTimestamp.getTime()
      for (const { name, lines } of changed)
        await recordLines(tx, { chainId, name, lines, startBlock: cursor.startBlock })
      if (!reaches) return
      const names = new Set(changed.flatMap((each) => (each.from === Infinity ? [] : [each.name])))
      log.info({ chainId, from, projections: [...names] }, 'the configuration of the past has changed: deriving again')
      await rederive(tx, { chainId, all: opened, names, from, to: cursor.blockNumber })
    })
  }

  /** Derives what is confirmed by now and was put off until then; answers whether there is more. */
  const applyPutOff = async (tx: Transaction, tip: number, finalized: number | null): Promise<boolean> => {
    const { opened } = current()
    const late = opened.filter(({ projection }) => projection.at === 'confirmed')
    if (late.length === 0) return false
    const depth = tip - (await findConfirmations(tx, chainId)) + 1
    const to = Math.max(depth, Math.min(finalized ?? depth, tip))
    const derivedTo = new Map((await listDerivations(tx, chainId)).map((each) => [each.name, each.derivedTo]))
    let isMore = false
    for (const each of late) {
      const from = (derivedTo.get(each.projection.name) ?? -1) + 1
      if (from > to) continue
      const input = { chainId, all: opened, opened: each, from, to, logsMax: confirmedLogsMax }
      const end = await applyConfirmed(tx, input)
      await recordDerivedTo(tx, chainId, each.projection.name, end)
      isMore ||= end < to
    }
    return isMore
  }

  return {
    refresh: async (head) => {
      let cursor = await findCursor(db, chainId)
      if (!cursor) {
        const start = startBlockOf(await loadConfigurations(db, chainId, projections.derived)) ?? head.number
        await createCursor(db, chainId, start, clock.now(), head.number - followedBefore + 1)
        cursor = await reload()
      }
      const now = await findConfigurationVersion(db, chainId)
      if (now !== version || !taken) {
        await refreshConfiguration(cursor)
        version = now
      }
      return cursor
    },
    watchList: () => current().list,
    complete: (node, blocks) => readRequests(db, { chainId, node, opened: current().full, blocks }),
    append: async (cursor, blocks, tip) => {
      const { opened } = current()
      const timestamp = new Date(tip.timestamp * 1000)
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        await recordBlocks(tx, chainId, withTip(blocks, tip))
        await awaiting?.note(tx, blocks, current().list)
        const head = opened.filter(({ projection }) => projection.at === 'head')
        const rows = await applyBlocks(tx, chainId, head, blocks)
        await applyPutOff(tx, tip.number, cursor.finalizedNumber)
        for (const reaction of reactions) await reaction.onBlocks?.(tx, chainId, blocks, rows)
        const at = clock.now()
        await moveCursor(tx, { chainId, blockNumber: tip.number, blockHash: tip.hash, blockTimestamp: timestamp, at })
        if (cursor.finalizedNumber !== null)
          await removeEmptyHeaders(tx, chainId, Math.min(cursor.finalizedNumber, tip.number))
      })
      return reload()
    },
    rewind: async (cursor, ancestor, by) => {
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        const reorgId = await recordReorg(tx, {
          chainId,
          detectedAt: clock.now(),
          ancestorNumber: ancestor.number,
          ancestorHash: ancestor.hash,
          oldNumber: cursor.blockNumber,
          oldHash: cursor.blockHash,
        })
        for (const reaction of reactions) await reaction.onRewind?.(tx, chainId, ancestor.number)
        const above = { chainId, number: ancestor.number, tip: cursor.blockNumber }
        const byOperator = by?.byOperator ?? false
        let retracted = 0
        for (const { projection } of current().opened.toReversed())
          retracted += await projection.rewind(tx, above, { reorgId, byOperator })
        await recordRetractedCount(tx, reorgId, retracted)
        await rewindDerivations(tx, chainId, ancestor.number)
        for (const observations of projections.observed) await observations.rewind(tx, above)
        const [held] = await listHeadersDown(tx, chainId, ancestor.number, 1)
        await removeRawAbove(tx, above)
        await rewindSourceProgress(tx, chainId, ancestor.number)
        await spoilRebuild(tx, chainId, ancestor.number + 1)
        const blockTimestamp = held?.number === ancestor.number ? new Date(held.timestamp * 1000) : null
        const { number: blockNumber, hash: blockHash } = ancestor
        await moveCursor(tx, { chainId, blockNumber, blockHash, blockTimestamp, at: clock.now() })
        const checkedTo = Math.max(
          Math.min(cursor.checkedTo, ancestor.number),
          Math.min(cursor.checkedTo, cursor.followedFrom - 1),
        )
        await recordChecked(tx, chainId, checkedTo)
        if (byOperator) await lowerFinalized(tx, chainId, ancestor.number)
      })
      // What was read of sources added later went with the orphaned blocks.
      take(current().full, await listSources(db, chainId))
      return reload()
    },
    backfill: async (cursor, node, checksOf) => {
      if (current().opened.some(({ projection }) => projection.at === 'confirmed')) {
        const isMore = await inTransaction(db, async (tx) => {
          await lockSame(tx, cursor)
          return applyPutOff(tx, cursor.blockNumber, cursor.finalizedNumber)
        })
        if (isMore) return true
      }
      if (current().sources.every(({ synced }) => synced)) return false
      // An operator's rewind takes back what was read of them, and tells nobody.
      take(current().full, await listSources(db, chainId))
      const { full, sources } = current()
      const pending = sources.filter(({ synced }) => !synced)
      if (pending.length === 0) return true
      const syncedTo = Math.min(...pending.map((each) => each.syncedTo))
      const group = pending.filter((each) => each.syncedTo === syncedTo)
      if (syncedTo < cursor.blockNumber) {
        const window = options.backfillWindow ?? 5_000
        const others = pending.filter((each) => each.syncedTo > syncedTo).map((each) => each.syncedTo)
        const finalized = cursor.finalizedNumber ?? -1
        const reach =
          syncedTo < finalized ? Math.min(syncedTo + window, finalized) : syncedTo + Math.min(window, unfinalWindow)
        const to = Math.min(reach, cursor.blockNumber, ...others)
        const held = await listHeadersDown(db, chainId, to, to - syncedTo)
        const list = watchAlone(full, group)
        const past = await fetchPast({ node, from: syncedTo + 1, to, list, cursor, held, checksOf })
        const blocks = await readRequests(db, { chainId, node, opened: full, blocks: past })
        await inTransaction(db, async (tx) => {
          await lockSame(tx, cursor)
          await recordBlocks(tx, chainId, blocks, { isWider: true })
          await awaiting?.note(tx, blocks, list)
          await advance(tx, group, { from: syncedTo, syncedTo: to, synced: false })
        })
        take(full, await listSources(db, chainId))
        return true
      }
      const all = openWith(full, [...sources.filter(({ synced }) => synced), ...group])
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        const from = Math.min(...group.map(({ fromBlock }) => fromBlock))
        const timestamp = (cursor.blockTimestamp?.getTime() ?? 0) / 1000
        const alone = openWith(full, group)
        await joinSources(tx, { chainId, all, alone, joining: group, from, to: cursor.blockNumber, timestamp })
        await advance(tx, group, { from: syncedTo, syncedTo: cursor.blockNumber, synced: true })
        await noteJoin(tx, chainId)
        const names = new Set(group.map(({ projection }) => projection))
        for (const { projection, config } of all) {
          const { name } = projection
          if (!names.has(name)) continue
          await recordLines(tx, { chainId, name, lines: projection.lines(config), startBlock: cursor.startBlock })
        }
      })
      log.info({ chainId, sources: group.map(({ key }) => key) }, 'sources added later have caught up')
      take(full, await listSources(db, chainId))
      return true
    },
    recheck: async (cursor, node, isDoubted) => {
      const { opened, list } = current()
      const end = Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber)
      const from = cursor.checkedTo + 1
      if (from > end) return false
      const most = Math.min(end, from + recheckBlocks - 1)
      const isFar = end - from > recheckWindow.farFrom
      const to = isFar ? most : await findEndOfWindow(db, { chainId, from, to: most, withLogs: recheckWindow.withLogs })
      const isKept = keptSince(current())
      const looked = await compareAgain({ db, node, cursor, range: { from, to }, list, isKept, isDoubted }).catch(
        (error: unknown) => {
          if (asksTooMuch(error)) recheckBlocks = Math.max(recheckWindow.least, Math.floor(recheckBlocks / 2))
          throw error
        },
      )
      const found = {
        ...looked,
        blocks: await readRequests(db, { chainId, node, opened: current().full, blocks: looked.blocks }),
      }
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        await repair(tx, { chainId, found, all: opened, to: cursor.blockNumber })
        await awaiting?.note(tx, found.blocks, list)
        await recordChecked(tx, chainId, to)
      })
      if (found.blocks.length > 0) log.warn({ chainId, ...describeFound(found) }, 'final blocks were wrong: repaired')
      return to < end
    },
    takeTraces: async (cursor) => {
      const inOwn = (work: (tx: Transaction) => Promise<void>) =>
        inTransaction(db, async (tx) => {
          await lockSame(tx, cursor)
          await work(tx)
        })
      await awaiting?.turn(inOwn, cursor, current())
    },
    doubtPast: async (cursor) => {
      const { startBlock } = cursor
      log.warn(
        { chainId, from: startBlock },
        'a node left logs out of the past: all that was read of it is looked at again',
      )
      await recordChecked(db, chainId, startBlock - 1)
    },
    recordHead: async (cursor, head) => recordHead(db, { chainId, cursor, ...head, at: clock.now() }),
    localHash: (number) => findBlockHash(db, chainId, number),
    listHeadersDown: (from, count) => listHeadersDown(db, chainId, from, count),
  }
}

/** The tip's header is always kept, also when it carries nothing. */
function withTip(blocks: readonly RawBlock[], tip: Header): readonly RawBlock[] {
  return blocks.at(-1)?.number === tip.number ? blocks : [...blocks, { ...tip, logs: [], transactions: [] }]
}
