import { mayCarryAttribution, mayHoldOperation, operationTopics, type Recover } from '@openearn/attribution'
import type { Hex } from 'viem'
import { type DeriveConfig, findDivergence, isSameConfig, listDatedLines } from '../derive/config.js'
import { createDerivation, type Derivation } from '../derive/derive.js'
import { vaultTopics, watchedTopics } from '../derive/events.js'
import { openFastRecover } from '../derive/fastRecover.js'
import type { DerivedRows } from '../derive/rows.js'
import { removePriceChoicesAbove, retractLedger } from '../features/ledger/index.js'
import { rewindPositions } from '../features/positions/index.js'
import type { Context } from '../postgres/context.js'
import { inTransaction, type Transaction } from '../postgres/pool.js'
import type { Node } from '../rpc/node.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import { type Checks, fetchBlock, fetchRange, type WatchList } from '../sync/fetch.js'
import { CursorMoved, type Sink } from '../sync/follow.js'
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
} from '../sync/storeCursors.js'
import { findBlockHash, listHeadersDown, recordBlocks, removeEmptyHeaders, removeRawAbove } from '../sync/storeRaw.js'
import { listVaultAddresses } from '../vaults/index.js'
import { applyBlocks } from './apply.js'
import { compareAgain, describeFound, listSince, repair } from './recheck.js'
import { joinVaults, rederive } from './rederive.js'
import {
  createWatchedVaults,
  findConfigMark,
  findDerivedConfig,
  listWatchedVaults,
  loadConfig,
  recordDerivedConfig,
  recordVaultProgress,
  restartWatchedVault,
  rewindVaultProgress,
  type WatchedVault,
} from './storeConfig.js'

/** What a slice does in the same transaction as the derived rows. */
export type Reaction = {
  name: string
  onBlocks?(tx: Transaction, chainId: number, blocks: readonly RawBlock[], rows: DerivedRows): Promise<void>
  onRewind?(tx: Transaction, chainId: number, ancestor: number): Promise<void>
}

export type PipelineOptions = {
  chainId: number
  reactions?: readonly Reaction[]
  recover?: Recover
  /** Blocks of one window when logs of a vault added later are fetched. */
  backfillWindow?: number
}

/** Blocks before the head at the first start that are compared with their headers as all later ones are. */
const followedBefore = 10_000
/** Final blocks looked at again at a time: few, so that the head does not wait; more when far behind. */
const recheckWindow = { near: 32, far: 200, farFrom: 2_000 }
/** Blocks of one window of the past that are not final: each is asked for by itself, and the head waits meanwhile. */
const unfinalWindow = 32

/** The one ordered pipeline of a chain: raw store, derivation, reactions and cursor, in one transaction each time. */
export function createPipeline(ctx: Pick<Context, 'db' | 'clock' | 'log'>, options: PipelineOptions): Sink {
  const { db, clock, log } = ctx
  const { chainId } = options
  const recover = options.recover ?? openFastRecover()
  const reactions = options.reactions ?? []
  let mark: string | undefined
  let loaded: { full: DeriveConfig; watched: WatchedVault[]; derivation: Derivation; list: WatchList } | undefined

  const current = () => {
    if (!loaded) throw new Error('the pipeline was used before it was refreshed')
    return loaded
  }

  const takeUp = (full: DeriveConfig, watched: WatchedVault[]) => {
    const synced = syncedOf(watched)
    if (loaded?.full === full && isSynced(full, loaded.derivation, synced)) {
      loaded = { ...loaded, watched }
      return
    }
    const config = { ...full, vaults: full.vaults.filter(({ address }) => synced.has(address)) }
    const derivation = createDerivation(config, recover)
    loaded = { full, watched, derivation, list: toWatchList(derivation) }
  }

  const lock = async (tx: Transaction, cursor: Cursor): Promise<void> => {
    const held = await lockCursor(tx, chainId)
    if (held?.blockNumber !== cursor.blockNumber || held.blockHash !== cursor.blockHash)
      throw new CursorMoved('another process moved the cursor')
  }

  /**
   * The same, for rows that rest on the configuration: were it taken up by another process only, or had that one let a
   * vault join, what this one has not watched would be missing from its blocks for good.
   */
  const lockSame = async (tx: Transaction, cursor: Cursor): Promise<void> => {
    await lock(tx, cursor)
    const now = await findConfigMark(tx, chainId)
    if (now === mark) return
    const { full, derivation } = current()
    if (!isSameConfig(await loadConfig(tx, chainId), full)) throw new CursorMoved('the configuration has changed')
    const synced = syncedOf(await listWatchedVaults(tx, chainId))
    if (!isSynced(full, derivation, synced)) throw new CursorMoved('another process let a vault join')
    mark = now
  }

  /** Records progress of vaults that are still where they were when their logs were read. */
  const advance = async (
    tx: Transaction,
    addresses: ReadonlySet<string>,
    progress: { from: number; syncedTo: number; synced: boolean },
  ): Promise<void> => {
    const count = await recordVaultProgress(tx, chainId, [...addresses], progress)
    if (count !== addresses.size) throw new CursorMoved('another process moved the vaults')
  }

  const reload = async (): Promise<Cursor> => {
    const cursor = await findCursor(db, chainId)
    if (!cursor) throw new CursorMoved('the cursor is gone')
    return cursor
  }

  /** Vaults that came into the catalogue: read from where the chain stands if they start later, else backfilled. */
  const watchNew = async (tx: Transaction, full: DeriveConfig, cursor: Cursor): Promise<WatchedVault[]> => {
    await lock(tx, cursor)
    const watched = await listWatchedVaults(tx, chainId)
    const known = new Set(watched.map(({ address }) => address))
    const fresh = full.vaults
      .filter(({ address }) => !known.has(address))
      .map(({ address, startBlock }) => ({
        address,
        fromBlock: startBlock,
        syncedTo: startBlock - 1,
        synced: startBlock > cursor.blockNumber,
      }))
    await createWatchedVaults(tx, chainId, fresh)
    // One that is to begin earlier than it was read from is read again as a whole.
    const earlier = full.vaults.filter(({ address, startBlock }) =>
      watched.some((vault) => vault.address === address && startBlock < vault.fromBlock),
    )
    for (const { address, startBlock } of earlier) await restartWatchedVault(tx, chainId, address, startBlock)
    return earlier.length > 0 ? listWatchedVaults(tx, chainId) : [...watched, ...fresh]
  }

  const refreshConfig = async (cursor: Cursor): Promise<void> => {
    const full = await loadConfig(db, chainId)
    takeUp(full, await inTransaction(db, (tx) => watchNew(tx, full, cursor)))
    const lines = listDatedLines(current().derivation.config)
    const from = findDivergence(await findDerivedConfig(db, chainId), lines)
    if (from === undefined) return
    await inTransaction(db, async (tx) => {
      await lock(tx, cursor)
      const reaches = cursor.blockTimestamp !== null && from * 1000 <= cursor.blockTimestamp.getTime()
      if (reaches) {
        log.info({ chainId, from }, 'the configuration of the past has changed: deriving again')
        await rederive(tx, { chainId, derivation: current().derivation, from, to: cursor.blockNumber })
      }
      await recordDerivedConfig(tx, chainId, lines)
    })
  }

  return {
    refresh: async (head) => {
      let cursor = await findCursor(db, chainId)
      if (!cursor) {
        const { vaults } = await loadConfig(db, chainId)
        const start = vaults.length > 0 ? Math.min(...vaults.map(({ startBlock }) => startBlock)) : head.number
        await createCursor(db, chainId, start, clock.now(), head.number - followedBefore + 1)
        cursor = await reload()
      }
      const now = await findConfigMark(db, chainId)
      if (now !== mark || !loaded) {
        await refreshConfig(cursor)
        mark = now
      }
      return cursor
    },
    watchList: () => current().list,
    append: async (cursor, blocks, tip) => {
      const { derivation } = current()
      const timestamp = new Date(tip.timestamp * 1000)
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        await recordBlocks(tx, chainId, withTip(blocks, tip))
        const rows = await applyBlocks(tx, derivation, blocks)
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
        const vaultIds = current().full.vaults.map(({ id }) => id)
        const above = { chainId, number: ancestor.number, tip: cursor.blockNumber }
        await rewindPositions(tx, vaultIds, above)
        await recordRetractedCount(tx, reorgId, await retractLedger(tx, above, reorgId))
        // An operator's rewind reads the same blocks again: what was chosen for them stays.
        if (!by?.byOperator) await removePriceChoicesAbove(tx, above)
        const [held] = await listHeadersDown(tx, chainId, ancestor.number, 1)
        await removeRawAbove(tx, above)
        await rewindVaultProgress(tx, chainId, ancestor.number)
        const blockTimestamp = held?.number === ancestor.number ? new Date(held.timestamp * 1000) : null
        const { number: blockNumber, hash: blockHash } = ancestor
        await moveCursor(tx, { chainId, blockNumber, blockHash, blockTimestamp, at: clock.now() })
        const checkedTo = Math.max(
          Math.min(cursor.checkedTo, ancestor.number),
          Math.min(cursor.checkedTo, cursor.followedFrom - 1),
        )
        await recordChecked(tx, chainId, checkedTo)
        if (by?.byOperator) await lowerFinalized(tx, chainId, ancestor.number)
      })
      // What was read of vaults added later went with the orphaned blocks.
      takeUp(current().full, await listWatchedVaults(db, chainId))
      return reload()
    },
    backfill: async (cursor, node, checksOf) => {
      if (current().watched.every((vault) => vault.synced)) return false
      // An operator's rewind takes back what was read of them, and tells nobody.
      takeUp(current().full, await listWatchedVaults(db, chainId))
      const pending = current().watched.filter((vault) => !vault.synced)
      if (pending.length === 0) return true
      const syncedTo = Math.min(...pending.map((vault) => vault.syncedTo))
      const group = pending.filter((vault) => vault.syncedTo === syncedTo)
      const addresses = new Set(group.map(({ address }) => address))
      const { full } = current()
      const derivation = createDerivation(
        { ...full, vaults: full.vaults.filter(({ address }) => addresses.has(address)) },
        recover,
      )
      if (syncedTo < cursor.blockNumber) {
        const window = options.backfillWindow ?? 5_000
        const others = pending.filter((vault) => vault.syncedTo > syncedTo).map((vault) => vault.syncedTo)
        const finalized = cursor.finalizedNumber ?? -1
        const reach =
          syncedTo < finalized ? Math.min(syncedTo + window, finalized) : syncedTo + Math.min(window, unfinalWindow)
        const to = Math.min(reach, cursor.blockNumber, ...others)
        const held = await listHeadersDown(db, chainId, to, to - syncedTo)
        const blocks = await fetchPast({
          node,
          from: syncedTo + 1,
          to,
          list: toWatchList(derivation),
          cursor,
          held,
          checksOf,
        })
        await inTransaction(db, async (tx) => {
          await lockSame(tx, cursor)
          await recordBlocks(tx, chainId, blocks)
          await advance(tx, addresses, { from: syncedTo, syncedTo: to, synced: false })
        })
        takeUp(full, await listWatchedVaults(db, chainId))
        return true
      }
      const synced = [...current().derivation.config.vaults, ...derivation.config.vaults]
      const config = { ...full, vaults: full.vaults.filter((vault) => synced.includes(vault)) }
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        await joinVaults(tx, { chainId, added: derivation, all: createDerivation(config, recover), cursor })
        await advance(tx, addresses, { from: syncedTo, syncedTo: cursor.blockNumber, synced: true })
        await recordDerivedConfig(tx, chainId, listDatedLines(config))
      })
      log.info({ chainId, vaults: addresses.size }, 'vaults added later have caught up')
      takeUp(full, await listWatchedVaults(db, chainId))
      return true
    },
    recheck: async (cursor, node) => {
      const { derivation, watched, list } = current()
      const end = Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber)
      const from = cursor.checkedTo + 1
      if (from > end) return false
      const to = Math.min(end, from + (end - from > recheckWindow.farFrom ? recheckWindow.far : recheckWindow.near) - 1)
      const found = await compareAgain({
        db,
        node,
        cursor,
        range: { from, to },
        list,
        since: listSince(derivation, watched),
      })
      await inTransaction(db, async (tx) => {
        await lockSame(tx, cursor)
        await repair(tx, { chainId, found, derivation, to: cursor.blockNumber })
        await recordChecked(tx, chainId, to)
      })
      if (found.blocks.length > 0) log.warn({ chainId, ...describeFound(found) }, 'final blocks were wrong: repaired')
      return to < end
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
    localHash,
    listHeadersDown: (from, count) => listHeadersDown(db, chainId, from, count),
  }

  function localHash(number: number): Promise<string | undefined> {
    return findBlockHash(db, chainId, number)
  }
}

function syncedOf(watched: readonly WatchedVault[]): Set<string> {
  return new Set(watched.filter((vault) => vault.synced).map(({ address }) => address))
}

/** Whether a derivation is of exactly those vaults of a configuration that are synced. */
function isSynced(full: DeriveConfig, { config }: Derivation, synced: ReadonlySet<string>): boolean {
  const derived = new Set(config.vaults.map(({ address }) => address))
  return full.vaults.every(({ address }) => synced.has(address) === derived.has(address))
}

/** The tip's header is always kept, also when it carries nothing. */
function withTip(blocks: readonly RawBlock[], tip: Header): readonly RawBlock[] {
  return blocks.at(-1)?.number === tip.number ? blocks : [...blocks, { ...tip, logs: [], transactions: [] }]
}

export function toWatchList(derivation: Derivation): WatchList {
  const { vaults } = derivation.config
  return {
    addresses: [...new Set(vaults.flatMap((vault) => [...listVaultAddresses(vault), vault.receiptToken]))],
    topics: watchedTopics,
    callTopics: new Set(vaultTopics),
    entryPoints: derivation.entryPoints,
    operationTopics: new Set(Object.values(operationTopics)),
    mayHoldOperation: (input) => mayCarryAttribution(input as Hex) && mayHoldOperation(input),
  }
}

/** Blocks of the past for vaults added later. What is not final is read by the hashes we hold, so that it is our chain. */
async function fetchPast(input: {
  node: Node
  from: number
  to: number
  list: WatchList
  cursor: Cursor
  held: readonly Header[]
  checksOf: (range: { from: number; to: number }) => Checks
}): Promise<RawBlock[]> {
  const { node, from, to, list, cursor, checksOf } = input
  const range = { from, to }
  if (to <= (cursor.finalizedNumber ?? -1)) return (await fetchRange(node, range, list, checksOf(range))).blocks
  const headers = await node.listHeaders(Array.from({ length: to - from + 1 }, (_, index) => from + index))
  const held = new Map(input.held.map(({ number, hash }) => [number, hash]))
  if (headers.some(({ number, hash }) => (held.get(number) ?? hash) !== hash))
    throw new CursorMoved('the chain moved while a vault was read')
  const blocks = await Promise.all(headers.map((header) => fetchBlock(node, header, list)))
  return blocks.filter(({ logs }) => logs.length > 0)
}
