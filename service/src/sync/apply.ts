import type { Queryable } from '../postgres/pool.js'
import type { RawBlock, RawLog } from '../rpc/raw.js'
import { withObservations } from './observations.js'
import { inPlace, type Opened, type Place } from './projection.js'
import { readRawBlocks } from './storeRaw.js'
import { matchLogs } from './watchList.js'

/** Rows of each projection, one entry a block. */
export type DerivedBlocks = ReadonlyMap<string, readonly unknown[]>

/** A projection at work: its configuration, its state, and which logs are its own. */
export type Deriving = Opened & { state: unknown; isOwn: ((log: RawLog) => boolean) | undefined }

/**
 * Opens projections. Each sees only the logs of its own sources, so that the sources of another projection do not affect its
 * rows. If only one projection reads logs, all logs are its own.
 */
export function startDeriving(opened: readonly Opened[], isWhole: boolean): Deriving[] {
  const readers = opened.filter(({ projection, config }) => projection.sources(config).length > 0)
  return opened.map((each) => {
    const { projection, config } = each
    const isOwn = readers.length > 1 ? matchLogs(projection.sources(config)) : undefined
    return { ...each, state: projection.open(isWhole), isOwn }
  })
}

const seenBy = ({ isOwn }: Deriving, block: RawBlock): RawBlock =>
  isOwn ? { ...block, logs: block.logs.filter(isOwn) } : block

/** Loads, for each projection, the state that blocks need from the rows before them. */
export async function loadStates(
  db: Queryable,
  input: { chainId: number; deriving: readonly Deriving[]; blocks: readonly RawBlock[]; place: Place },
): Promise<void> {
  const { chainId, deriving, place } = input
  for (const each of deriving) {
    const blocks = each.isOwn ? input.blocks.map((block) => seenBy(each, block)) : input.blocks
    await each.projection.load(db, { chainId, config: each.config, state: each.state, blocks, place })
  }
}

/** Derives one block by each projection in turn, each with the rows of those before it. */
export function deriveBlock(
  block: RawBlock,
  chainId: number,
  deriving: readonly Deriving[],
  known: ReadonlyMap<string, unknown> = new Map(),
): ReadonlyMap<string, unknown> {
  const results = new Map(known)
  for (const each of deriving) {
    const { projection, config, state } = each
    results.set(projection.name, projection.derive(seenBy(each, block), { chainId, config, state, results }))
  }
  return results
}

/** Derives blocks in order from the rows in the database, and writes the new rows. */
export async function applyBlocks(
  db: Queryable,
  chainId: number,
  opened: readonly Opened[],
  blocks: readonly RawBlock[],
): Promise<DerivedBlocks> {
  const deriving = startDeriving(opened, false)
  await loadStates(db, { chainId, deriving, blocks, place: inPlace })
  const results = blocks.map((block) => deriveBlock(block, chainId, deriving))
  const derived = new Map<string, unknown[]>()
  for (const { projection, config } of deriving) {
    const rows = results.map((result) => result.get(projection.name))
    await projection.write(db, rows, { chainId, config, place: inPlace, isLive: true })
    derived.set(projection.name, rows)
  }
  return derived
}

/** Blocks that were derived in the same transaction, with their rows. No block from `from` on was stored before it. */
export type Fresh = { from: number; blocks: readonly RawBlock[]; rows: DerivedBlocks }

/** Projections at `confirmed`, and the range of blocks that are confirmed now. */
export type Confirmed = {
  chainId: number
  all: readonly Opened[]
  /** Projections that are derived up to the same block. */
  late: readonly Opened[]
  from: number
  to: number
  /** Logs that are read at once. */
  logsMax: number
  fresh?: Fresh | undefined
  tell?: Tell | undefined
}

/** Writes the events of projections, in the transaction of their rows. */
export type Tell = (
  tx: Queryable,
  told: { chainId: number; projection: string; events: readonly unknown[] },
) => Promise<void>

/**
 * Derives confirmed blocks in [from, to], at most about `logsMax` stored logs. Takes the rows of needed projections from
 * the same transaction where they were derived in it, and else recalls them. Returns the last block.
 */
export async function applyConfirmed(db: Queryable, input: Confirmed): Promise<number> {
  const { chainId, from, to, logsMax, fresh } = input
  const storedTo = fresh ? Math.min(to, fresh.from - 1) : to
  if (from <= storedTo) {
    const { blocks, next } = await readRawBlocks(db, { chainId, from, to: storedTo, logsMax })
    const end = next === undefined ? storedTo : next - 1
    if (blocks.length > 0) {
      const told = await withObservations(db, { chainId, all: input.late, blocks })
      await applyLate(db, input, told, await recallNeeded(db, input, blocks, { from, to: end }))
    }
    if (end < storedTo) return end
  }
  if (!fresh) return to
  const numbers = new Map(fresh.blocks.map(({ number }, index) => [number, index]))
  const handed = (name: string, number: number) => fresh.rows.get(name)?.[numbers.get(number) ?? -1]
  const blocks = fresh.blocks.filter(({ number, logs }) => number >= from && number <= to && logs.length > 0)
  if (blocks.length > 0) await applyLate(db, input, blocks, handed)
  return to
}

/** The rows of a projection for a block. */
type RowsOf = (name: string, number: number) => unknown

async function recallNeeded(
  db: Queryable,
  { chainId, all, late }: Confirmed,
  blocks: readonly RawBlock[],
  range: { from: number; to: number },
): Promise<RowsOf> {
  const recalled = new Map<string, ReadonlyMap<number, unknown>>()
  for (const needed of startDeriving(all, false).filter((each) => isNeeded(each, late))) {
    const { projection, config } = needed
    const { name, recall } = projection
    if (!recall) throw new Error(`rows of ${name} cannot be recalled`)
    const own = blocks.map((block) => seenBy(needed, block))
    recalled.set(name, await recall(db, { chainId, ...range, config, blocks: own }))
  }
  return (name, number) => recalled.get(name)?.get(number)
}

/** Whether projections need rows of one that is not derived with them. */
function isNeeded({ projection }: Opened, late: readonly Opened[]): boolean {
  if (late.some((each) => each.projection === projection)) return false
  return late.some((each) => each.projection.needs.includes(projection.name))
}

async function applyLate(
  db: Queryable,
  { chainId, all, late, tell }: Confirmed,
  blocks: readonly RawBlock[],
  rowsOf: RowsOf,
): Promise<void> {
  const members = new Set(late.map(({ projection }) => projection))
  const deriving = startDeriving(all, false).filter(({ projection }) => members.has(projection))
  const needs = new Set(late.flatMap(({ projection }) => projection.needs))
  await loadStates(db, { chainId, deriving, blocks, place: inPlace })
  const results = blocks.map((block) => {
    const known = new Map([...needs].map((name) => [name, rowsOf(name, block.number)]))
    return deriveBlock(block, chainId, deriving, known)
  })
  for (const { projection, config } of deriving) {
    const rows = results.map((result) => result.get(projection.name))
    await projection.write(db, rows, { chainId, config, place: inPlace, isLive: true })
    const events = tell ? (projection.events?.(rows, { chainId, config }) ?? []) : []
    if (events.length > 0) await tell?.(db, { chainId, projection: projection.name, events })
  }
}
