import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Recover } from '@openearn/attribution'
import { type DeriveVault, listDatedLines } from '../derive/config.js'
import { createDerivation, type Derivation, deriveInto } from '../derive/derive.js'
import { openFastRecover } from '../derive/fastRecover.js'
import { type DerivedRows, type DeriveState, emptyRows, emptyState } from '../derive/rows.js'
import { computeStateHash } from '../features/audit/index.js'
import { recordInteractions, recordTransactionAttributions, removeLedger } from '../features/ledger/index.js'
import {
  copyBalanceChanges,
  copyLotChanges,
  copyState,
  openRebuilt,
  type RebuiltPlace,
  recordRequests,
  recordUsedSignatures,
  removeRequests,
  replacePositions,
} from '../features/positions/index.js'
import type { Context } from '../postgres/context.js'
import { inTransaction, type Transaction } from '../postgres/pool.js'
import type { RawBlock } from '../rpc/raw.js'
import { lockCursor } from '../sync/storeCursors.js'
import { countRawLogs, readRawBlocks } from '../sync/storeRaw.js'
import { listWatchedVaults, loadConfig, recordDerivedConfig } from './storeConfig.js'

export type RebuildResult = { events: number; seconds: number; hash: string }

export type RebuildProgress = {
  blockNumber: number
  toBlock: number
  events: number
  /** All events there are to derive. */
  toEvents: number
  /** Since the beginning, and how many more at the rate so far. */
  seconds: number
  secondsLeft: number
}

/** Logs read at once: few enough that what is derived of them dies young. */
const logsMax = 5_000
/** Batches of rows that may wait for the database before derivation pauses. */
const waitingMax = 3
/** Logs derived before the rows of earlier ones and the answers of the database get their turn: about 3 ms. */
const logsPerTurn = 200

/**
 * Derives everything derived of a chain again from the raw store, the observations and the configuration, without asking
 * any node, and puts it in place of what was there, in one transaction: until it ends others see the old rows. Answers how many logs there were
 * and the hash of the state; `seconds` is without the hashing. Throws when the chain was never watched.
 */
export async function rebuildChain(
  ctx: Pick<Context, 'db' | 'clock'>,
  input: { chainId: number; recover?: Recover; onProgress?: (progress: RebuildProgress) => void },
): Promise<RebuildResult> {
  const { db, clock } = ctx
  const { chainId } = input
  const startMs = clock.monotonicMs()
  const elapsed = () => (clock.monotonicMs() - startMs) / 1000
  const events = await inTransaction(db, async (tx) => {
    const cursor = await lockCursor(tx, chainId)
    if (!cursor) throw new Error(`chain ${chainId} was never watched: there is nothing to rebuild from`)
    // Read under the lock: a vault that was joining while it was waited for is in.
    const full = await loadConfig(tx, chainId)
    const watched = await listWatchedVaults(tx, chainId)
    const synced = new Set(watched.filter((vault) => vault.synced).map(({ address }) => address))
    const config = { ...full, vaults: full.vaults.filter(({ address }) => synced.has(address)) }
    const derivation = createDerivation(config, input.recover ?? openFastRecover())
    // A vault added later may begin before the first block that was watched.
    const range = { chainId, from: 0, to: cursor.blockNumber }
    const toEvents = await countRawLogs(db, range)
    const report = (blockNumber: number, done: number) => {
      const seconds = elapsed()
      const secondsLeft = done === 0 ? 0 : (seconds * Math.max(0, toEvents - done)) / done
      input.onProgress?.({ blockNumber, toBlock: range.to, events: done, toEvents, seconds, secondsLeft })
    }
    const count = await deriveAll(tx, ctx, { derivation, range, report })
    await recordDerivedConfig(tx, chainId, listDatedLines(config))
    return count
  })
  const seconds = elapsed()
  return { events, seconds, hash: await computeStateHash(db, chainId) }
}

async function deriveAll(
  tx: Transaction,
  { db }: Pick<Context, 'db'>,
  input: {
    derivation: Derivation
    range: { chainId: number; from: number; to: number }
    report: (blockNumber: number, events: number) => void
  },
): Promise<number> {
  const { derivation, range } = input
  const { chainId } = range
  const state = emptyState()
  const vaults = new Map(derivation.config.vaults.map((vault) => [vault.id, vault]))
  // The raw store below the locked cursor does not move, so another connection can read ahead.
  const read = (from: number) => {
    const reading = readRawBlocks(db, { ...range, from, logsMax })
    // Whoever takes it up sees the failure; until then it must not end the process.
    reading.catch(() => undefined)
    return reading
  }
  // The database takes up the rows of one batch while the next is derived; first it drops the old ones.
  const writer = createWriter()
  const place = await openRebuilt(tx, chainId)
  try {
    await writer.add(() => removeLedger(tx, chainId))
    await writer.add(() => removeRequests(tx, chainId))
    let events = 0
    let ahead = read(range.from)
    for (;;) {
      const { blocks, next } = await ahead
      if (next !== undefined) ahead = read(next)
      const rows = await deriveInTurns(blocks, derivation, state)
      await writer.add(() => writeRows(tx, { chainId, rows, vaults, place }))
      events += blocks.reduce((sum, block) => sum + block.logs.length, 0)
      input.report(blocks.at(-1)?.number ?? range.to, events)
      if (next === undefined) break
    }
    await writer.add(() => copyState(tx, chainId, state, place))
    if (place === 'beside') await writer.add(() => replacePositions(tx, chainId))
    return events
  } finally {
    await writer.end()
  }
}

/** Derives blocks in order and lets other work have its turn in between. */
async function deriveInTurns(
  blocks: readonly RawBlock[],
  derivation: Derivation,
  state: DeriveState,
): Promise<DerivedRows> {
  const rows = emptyRows()
  let logs = 0
  for (const block of blocks) {
    deriveInto(rows, block, derivation, state)
    logs += block.logs.length
    if (logs < logsPerTurn) continue
    logs = 0
    await nextTurn()
  }
  return rows
}

/**
 * Work for one connection, done in order. `add` waits only while too much is under way; `end` waits for all of it. After
 * a failure the rest is left undone, and both throw it.
 */
function createWriter(): { add(work: () => Promise<void>): Promise<void>; end(): Promise<void> } {
  const waiting: Promise<void>[] = []
  let last = Promise.resolve()
  return {
    add: async (work) => {
      last = last.then(work)
      last.catch(() => undefined)
      waiting.push(last)
      if (waiting.length > waitingMax) await waiting.shift()
    },
    end: () => last,
  }
}

async function writeRows(
  tx: Transaction,
  input: { chainId: number; rows: DerivedRows; vaults: ReadonlyMap<number, DeriveVault>; place: RebuiltPlace },
): Promise<void> {
  const { chainId, rows, vaults, place } = input
  const balanceChanges = await copyBalanceChanges(tx, chainId, place)
  await balanceChanges.write(rows.balanceChanges)
  await balanceChanges.end()
  if (rows.lotChanges.length > 0) {
    const lotChanges = await copyLotChanges(tx, chainId, place)
    await lotChanges.write(rows.lotChanges)
    await lotChanges.end()
  }
  await recordRequests(tx, chainId, rows)
  await recordInteractions(tx, chainId, rows.interactions, vaults, { choosePrices: false })
  await recordTransactionAttributions(tx, chainId, rows.attributions)
  await recordUsedSignatures(tx, chainId, rows.usedSignatures)
}
