import type { Recover } from '../chain/attribution/index.js'
import { openFastRecover } from '../chain/fastRecover.js'
import { lockCursor } from '../chain/storeCursor.js'
import { readRawBlocks } from '../chain/storeRaw.js'
import type { Context } from '../kernel/context.js'
import { inTransaction, type Transaction } from '../kernel/database.js'
import { deriveBlocks } from './apply.js'
import { type DeriveVault, listDatedLines } from './config.js'
import { createDerivation, type Derivation } from './derive.js'
import { type DerivedRows, emptyRows, emptyState } from './rows.js'
import { listWatchedVaults, loadConfig, recordDerivedConfig } from './storeConfig.js'
import { computeStateHash } from './storeHash.js'
import { recordInteractions, recordWatched } from './storeLedger.js'
import { recordRequests } from './storePositions.js'
import {
  copyBalanceChanges,
  copyLotChanges,
  copyState,
  formatBalanceChanges,
  formatLotChanges,
  removeDerived,
} from './storeRebuild.js'

export type RebuildResult = { events: number; seconds: number; hash: string }

export type RebuildProgress = { blockNumber: number; toBlock: number; events: number; seconds: number }

const logsMax = 20_000

/**
 * Drops everything derived of a chain and derives it again from the raw store, the observations and the configuration,
 * without asking any node, in one transaction: until it ends others see the old rows. Answers how many logs there were
 * and the hash of the state. Throws when the chain was never watched.
 */
export async function rebuildChain(
  ctx: Pick<Context, 'db' | 'clock'>,
  input: { chainId: number; recover?: Recover; onProgress?: (progress: RebuildProgress) => void },
): Promise<RebuildResult> {
  const { db, clock } = ctx
  const { chainId } = input
  const startMs = clock.monotonicMs()
  const seconds = () => (clock.monotonicMs() - startMs) / 1000
  const full = await loadConfig(db, chainId)
  const joined = new Set(
    (await listWatchedVaults(db, chainId)).filter((vault) => vault.joined).map(({ address }) => address),
  )
  const config = { ...full, vaults: full.vaults.filter(({ address }) => joined.has(address)) }
  const derivation = createDerivation(config, input.recover ?? openFastRecover())
  const events = await inTransaction(db, async (tx) => {
    const cursor = await lockCursor(tx, chainId)
    if (!cursor) throw new Error(`chain ${chainId} was never watched: there is nothing to rebuild from`)
    await removeDerived(
      tx,
      chainId,
      full.vaults.map(({ id }) => id),
    )
    const report = (blockNumber: number, count: number) =>
      input.onProgress?.({ blockNumber, toBlock: cursor.blockNumber, events: count, seconds: seconds() })
    const range = { chainId, from: cursor.startBlock, to: cursor.blockNumber }
    const count = await deriveAll(tx, ctx, { derivation, range, report })
    await recordDerivedConfig(tx, chainId, listDatedLines(config))
    return count
  })
  const took = seconds()
  return { events, seconds: took, hash: await computeStateHash(db, chainId) }
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
  const read = (from: number) => readRawBlocks(db, { ...range, from, logsMax })
  let events = 0
  let ahead = read(range.from)
  let writing: Promise<void> = Promise.resolve()
  for (;;) {
    const { blocks, next } = await ahead
    if (next !== undefined) ahead = read(next)
    const rows = deriveBlocks(blocks, derivation, state)
    // The database takes up these rows while the next blocks are derived.
    await writing
    writing = writeRows(tx, chainId, rows, vaults)
    writing.catch(() => undefined)
    events += blocks.reduce((sum, block) => sum + block.logs.length, 0)
    input.report(blocks.at(-1)?.number ?? range.to, events)
    if (next === undefined) break
  }
  await writing
  await copyState(tx, state)
  return events
}

async function writeRows(
  tx: Transaction,
  chainId: number,
  rows: DerivedRows,
  vaults: ReadonlyMap<number, DeriveVault>,
): Promise<void> {
  const balanceChanges = await copyBalanceChanges(tx)
  await balanceChanges.write(formatBalanceChanges(rows.balanceChanges))
  await balanceChanges.end()
  if (rows.lotChanges.length > 0) {
    const lotChanges = await copyLotChanges(tx)
    await lotChanges.write(formatLotChanges(rows.lotChanges))
    await lotChanges.end()
  }
  await recordRequests(tx, { ...emptyRows(), requests: rows.requests, requestChanges: rows.requestChanges })
  await recordInteractions(tx, chainId, rows.interactions, vaults)
  await recordWatched(tx, chainId, rows.watched)
}
