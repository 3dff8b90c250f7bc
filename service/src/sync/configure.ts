import type { Log } from '../kernel/log.js'
import { type Database, inTransaction, type Transaction } from '../postgres/pool.js'
import type { DatedLine } from './configuration.js'
import { findAdded, findDivergence } from './configuration.js'
import { CursorMoved } from './failures.js'
import type { AnyProjection } from './projection.js'
import { rederive } from './rederive.js'
import { type Cursor, lockCursor } from './storeCursors.js'
import {
  createSources,
  listDerivations,
  listSources,
  nameSource,
  recordLines,
  restartSource,
  type SourceProgress,
} from './storeSources.js'
import { type Configured, loadConfigurations, type Taken, takeUp } from './taken.js'

type Changed = { name: string; lines: readonly DatedLine[]; from: number }

/** Locks the cursor. Throws `CursorMoved` if it is not at the expected block. */
export async function lockAt(tx: Transaction, cursor: Cursor): Promise<void> {
  const held = await lockCursor(tx, cursor.chainId)
  if (held?.blockNumber !== cursor.blockNumber || held.blockHash !== cursor.blockHash)
    throw new CursorMoved('another process moved the cursor')
}

/**
 * Loads the present configuration: begins to read new sources, and derives again the rows that depend on changed lines of the
 * past.
 */
export async function takeUpConfiguration(
  db: Database,
  input: { cursor: Cursor; projections: readonly AnyProjection[]; log: Log },
): Promise<Taken> {
  const { cursor, projections, log } = input
  const { chainId, startBlock } = cursor
  const full = await loadConfigurations(db, chainId, projections)
  const taken = takeUp(full, await inTransaction(db, (tx) => watchNew(tx, full, cursor)))
  const changed = await listChanged(db, chainId, taken)
  if (changed.length === 0) return taken
  const from = Math.min(...changed.map((each) => each.from))
  await inTransaction(db, async (tx) => {
    await lockAt(tx, cursor)
    const reaches = cursor.blockTimestamp !== null && from * 1000 <= cursor.blockTimestamp.getTime()
    for (const { name, lines } of changed) await recordLines(tx, { chainId, name, lines, startBlock })
    if (!reaches) return
    const names = new Set(changed.flatMap((each) => (each.from === Infinity ? [] : [each.name])))
    log.info({ chainId, from, projections: [...names] }, 'the configuration of the past has changed: deriving again')
    await rederive(tx, { chainId, all: taken.opened, names, from, to: cursor.blockNumber })
  })
  return taken
}

/** New sources: read from the cursor if they start later, else their past is fetched first. */
async function watchNew(tx: Transaction, full: readonly Configured[], cursor: Cursor): Promise<SourceProgress[]> {
  await lockAt(tx, cursor)
  const { chainId, blockNumber } = cursor
  const known = await listSources(tx, chainId)
  const byName = new Map(known.map((each) => [nameSource(each), each]))
  const fresh: SourceProgress[] = []
  let isEarlier = false
  for (const { projection, sources } of full)
    for (const { key, fromBlock, beside } of sources) {
      if (beside) continue
      const held = byName.get(nameSource({ projection: projection.name, key }))
      if (!held) {
        const synced = fromBlock > blockNumber
        fresh.push({ projection: projection.name, key, fromBlock, syncedTo: fromBlock - 1, synced })
      } else if (fromBlock < held.fromBlock) {
        // A source that is to begin earlier is read again as a whole.
        await restartSource(tx, chainId, held, fromBlock)
        isEarlier = true
      }
    }
  await createSources(tx, chainId, fresh)
  return isEarlier ? listSources(tx, chainId) : [...known, ...fresh]
}

/** Projections whose rows were derived with another configuration, and the instant from which the difference matters. */
async function listChanged(db: Database, chainId: number, { opened }: Taken): Promise<Changed[]> {
  const held = new Map((await listDerivations(db, chainId)).map((each) => [each.name, each.lines]))
  return opened.flatMap(({ projection, config }) => {
    const { name } = projection
    const lines = projection.lines(config)
    const before = held.get(name)
    const from = before ? findDivergence(before, lines) : 0
    if (from !== undefined) return [{ name, lines, from }]
    // A new object makes no difference yet; a later change of its line will.
    const fresh = findAdded(before ?? [], lines)
    return fresh.length === 0 ? [] : [{ name, lines: [...(before ?? []), ...fresh], from: Infinity }]
  })
}
