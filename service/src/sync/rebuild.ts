import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../postgres/context.js'
import { inTransaction, type Queryable, type Transaction } from '../postgres/pool.js'
import type { RawBlock } from '../rpc/raw.js'
import { type Deriving, deriveBlock, loadStates, startDeriving } from './apply.js'
import { withObservations } from './observations.js'
import { listNeeded, type Opened, type Projections } from './projection.js'
import { splitRange } from './rederive.js'
import { type Cursor, findCursor, lockCursor } from './storeCursors.js'
import { takeRebuildLock } from './storeLocks.js'
import { countRawLogs, readRawBlocks } from './storeRaw.js'
import {
  createRebuild,
  findRebuild,
  type Rebuild,
  recordReach,
  recordRebuilt,
  removeRebuilds,
} from './storeRebuilds.js'
import { listDerivations, listSources, recordLines } from './storeSources.js'
import { beside, clearTwins, takeTwins } from './storeTwins.js'
import { loadConfigurations, takeUp } from './taken.js'

export type RebuildResult = { events: number; seconds: number; resumedAt: number | undefined }

export type RebuildProgress = {
  blockNumber: number
  toBlock: number
  events: number
  /** The number of all events to derive. */
  toEvents: number
  /** Seconds since the start, and seconds left at the rate so far. */
  seconds: number
  secondsLeft: number
}

export type RebuildInput = {
  chainId: number
  projections: Projections
  /** Names of those to derive again; absent: all. */
  only?: readonly string[]
  onProgress?: (progress: RebuildProgress) => void
  /** The most items of a state before it is dropped, and logs read at once. */
  stateMax?: number
  logsMax?: number
}

/** Logs read at once: few, so that the garbage collector frees their rows early. */
const logsMaxDefault = 5_000
/** Batches of rows that may wait for the database before derivation pauses. */
const waitingMax = 3
/** Logs derived before the event loop serves the database again: about 3 ms. */
const logsPerTurn = 200
/** About 200 MB. */
const stateMaxDefault = 250_000
/** How often a rebuild starts again because its input has changed. */
const attemptsMax = 5

/** The rows in the twin tables were derived from data that has changed since. */
class Spoiled extends Error {
  override readonly name = 'Spoiled'
}

/**
 * Derives projections of a chain again from the raw store, the observations and the configuration, without asking any
 * node. Final blocks are derived into twin tables, in batches, while the chain is followed; after a kill it continues at the
 * last batch. Then one transaction holds the chain, derives the rest and replaces the rows that differ; others see the old
 * rows until it commits. Throws if the chain was never watched.
 */
export async function rebuildChain(ctx: Pick<Context, 'db' | 'clock'>, input: RebuildInput): Promise<RebuildResult> {
  for (let attempt = 1; ; attempt++) {
    // Taken again each time: if it was lost with its connection, another process may be deriving the same, and is waited for.
    const lock = await takeRebuildLock(ctx)
    try {
      return await rebuildOnce(ctx, input)
    } catch (error) {
      if (!(error instanceof Spoiled) || attempt >= attemptsMax) throw error
    } finally {
      await lock.release()
    }
  }
}

/** A run of a rebuild, from its beginning or from where an earlier one was left. */
type Run = {
  chainId: number
  opened: readonly Opened[]
  /** The projections whose rows are replaced; the others are derived because these need them. */
  wanted: readonly Opened[]
  deriving: Deriving[]
  isWhole: boolean
  events: number
  stateMax: number
  logsMax: number
  report(blockNumber: number, events: number): void
}

async function rebuildOnce(ctx: Pick<Context, 'db' | 'clock'>, input: RebuildInput): Promise<RebuildResult> {
  const { db, clock } = ctx
  const { chainId } = input
  const startMs = clock.monotonicMs()
  const elapsed = () => (clock.monotonicMs() - startMs) / 1000
  const cursor = await findCursor(db, chainId)
  if (!cursor) throw new Error(`chain ${chainId} was never watched: there is nothing to rebuild from`)
  const { opened, wanted, rests } = await readBasis(ctx, input)
  const row = await begin(ctx, { chainId, rests, opened, readsTo: await findReach(ctx, cursor, opened) })
  const toEvents = await countRawLogs(db, { chainId, from: 0, to: cursor.blockNumber })
  const isWhole = row.doneTo < 0
  const run: Run = {
    ...{ chainId, opened, wanted, isWhole, events: row.events },
    deriving: startDeriving(opened, isWhole),
    stateMax: input.stateMax ?? stateMaxDefault,
    logsMax: input.logsMax ?? logsMaxDefault,
    report: (blockNumber, events) => {
      const seconds = elapsed()
      const done = events - row.events
      const secondsLeft = done === 0 ? 0 : (seconds * Math.max(0, toEvents - events)) / done
      const toBlock = Math.max(cursor.blockNumber, blockNumber)
      input.onProgress?.({ blockNumber, toBlock, events, toEvents: Math.max(toEvents, events), seconds, secondsLeft })
    },
  }
  if (!isWhole) await inTransaction(db, (tx) => settle(tx, run))
  const doneTo = await deriveFinal(ctx, run, row)
  await inTransaction(db, (tx) => finish(tx, ctx, run, { ...input, rests, doneTo }))
  return { events: run.events, seconds: elapsed(), resumedAt: isWhole ? undefined : row.doneTo }
}

/** The projections to derive, and a text that changes whenever their rows may change. */
async function readBasis({ db }: Pick<Context, 'db'>, input: RebuildInput, tx?: Transaction) {
  const { chainId, projections, only } = input
  const from = tx ?? db
  const full = await loadConfigurations(from, chainId, projections.derived)
  const all = takeUp(full, await listSources(from, chainId)).opened
  const unknown = only?.find((name) => !all.some(({ projection }) => projection.name === name))
  if (unknown !== undefined) throw new Error(`there is no projection ${unknown}`)
  const wanted = all.filter(({ projection }) => !only || only.includes(projection.name))
  const names = new Set(wanted.map(({ projection }) => projection.name))
  const opened = listNeeded(all, names)
  const told = opened.map(({ projection, config }) => {
    const sources = projection.sources(config).map(({ key, fromBlock }) => `${key} ${fromBlock}`)
    return [
      projection.name,
      projection
        .lines(config)
        .map(({ line, from: at }) => `${at} ${line}`)
        .sort(),
      sources.sort(),
    ]
  })
  return {
    opened,
    wanted,
    rests: createHash('sha256')
      .update(JSON.stringify([[...names], told]))
      .digest('hex'),
  }
}

/** Blocks up to here do not change any more, and everything of them is derived. */
async function findReach({ db }: Pick<Context, 'db'>, cursor: Cursor, opened: readonly Opened[]): Promise<number> {
  const derivations = await listDerivations(db, cursor.chainId)
  const late = opened.filter(({ projection }) => projection.at === 'confirmed')
  const ends = late.map(({ projection }) => derivations.find(({ name }) => name === projection.name)?.derivedTo ?? -1)
  return Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber, ...ends)
}

/** Continues an unfinished rebuild with the same input, or begins one in empty tables. */
async function begin(
  { db }: Pick<Context, 'db'>,
  input: { chainId: number; rests: string; opened: readonly Opened[]; readsTo: number },
): Promise<Rebuild> {
  const { chainId, rests, opened } = input
  return inTransaction(db, async (tx) => {
    const held = await findRebuild(tx)
    const isSame = held?.chainId === chainId && held.rests === rests && !held.spoiled
    const readsTo = Math.max(input.readsTo, isSame ? held.readsTo : -1)
    if (isSame) {
      await recordReach(tx, chainId, readsTo)
      return { ...held, readsTo }
    }
    await removeRebuilds(tx)
    for (const { projection } of opened) await clearTwins(tx, projection)
    const row = { chainId, rests, doneTo: -1, events: 0, readsTo, spoiled: false }
    await createRebuild(tx, row)
    return row
  })
}

/** Derives final blocks in batches; each batch and its progress are one transaction. Returns the last block. */
async function deriveFinal({ db }: Pick<Context, 'db'>, run: Run, row: Rebuild): Promise<number> {
  const { chainId } = run
  const inOwn = (work: (tx: Transaction) => Promise<void>) => inTransaction(db, work)
  let from = row.doneTo
  const commit: Commit = async (doneTo, events, write) => {
    await inOwn(async (tx) => {
      // First: another process that derives the same waits for this row, and sees that it is done.
      if (!(await recordRebuilt(tx, { chainId, from, doneTo, events }))) throw new Spoiled('derived anew meanwhile')
      await write(tx)
    })
    from = doneTo
  }
  const letGo = () => inOwn((tx) => settle(tx, run))
  await deriveRange(db, run, { from: row.doneTo + 1, to: row.readsTo }, { twins: db, commit, letGo })
  return from
}

/** Holds the chain, derives the blocks that are not final, and replaces the rows. */
async function finish(
  tx: Transaction,
  ctx: Pick<Context, 'db' | 'clock'>,
  run: Run,
  input: RebuildInput & { rests: string; doneTo: number },
): Promise<void> {
  const { chainId } = run
  const cursor = await lockCursor(tx, chainId)
  if (!cursor) throw new Spoiled('the chain is gone')
  const row = await findRebuild(tx)
  if (!row || row.spoiled || row.doneTo !== input.doneTo) throw new Spoiled('derived anew meanwhile')
  // Read under the lock: sources may have joined during the wait.
  if ((await readBasis(ctx, input, tx)).rests !== input.rests) throw new Spoiled('the configuration has changed')
  const derivedTo = new Map((await listDerivations(tx, chainId)).map((each) => [each.name, each.derivedTo]))
  let from = row.doneTo + 1
  // The raw store below the locked cursor does not move, so another connection can read it.
  for (const { end, group } of splitRange(run.opened, derivedTo, { from, to: cursor.blockNumber })) {
    const members = new Set(group.map(({ projection }) => projection))
    const part = { ...run, deriving: run.deriving.filter(({ projection }) => members.has(projection)) }
    const letGo = () => settle(tx, run)
    await deriveRange(
      ctx.db,
      part,
      { from, to: end },
      { twins: tx, isOne: true, commit: (_end, _events, write) => write(tx), letGo },
    )
    run.events = part.events
    run.isWhole = part.isWhole
    from = end + 1
  }
  await settle(tx, run)
  // One comparison of the whole history is worth more memory than a query has. Merged along an index it would touch the
  // history's pages at random, and drive out those that others read; hashed it reads them once, in order.
  await tx`set local work_mem = '64MB'`
  await tx`set local enable_mergejoin = off`
  await tx`set local max_parallel_workers_per_gather = 0`
  for (const { projection, config } of run.wanted) {
    await takeTwins(tx, chainId, projection)
    const { name } = projection
    await recordLines(tx, { chainId, name, lines: projection.lines(config), startBlock: cursor.startBlock })
  }
  await removeRebuilds(tx)
  for (const { projection } of run.opened) await clearTwins(tx, projection)
}

/** Writes the rows of a batch that ends at a block, with how many events there were up to it. */
type Commit = (end: number, events: number, write: (tx: Transaction) => Promise<void>) => Promise<void>

/**
 * Derives a range in batches. The database writes the rows of one batch while the next is derived. A state that has grown
 * too large is dropped once all its rows are written, and loaded again from the twin tables.
 */
async function deriveRange(
  db: Queryable,
  run: Run,
  range: { from: number; to: number },
  work: { twins: Queryable; isOne?: true; commit: Commit; letGo: () => Promise<void> },
): Promise<void> {
  if (range.to < range.from) return
  const { logsMax, chainId } = run
  const read = (from: number) => {
    const reading = readStored(db, run, { from, to: range.to, logsMax })
    // The consumer sees the failure; until then it must not end the process.
    reading.catch(() => undefined)
    return reading
  }
  const writer = createWriter()
  try {
    let ahead = read(range.from)
    for (;;) {
      const { blocks, next } = await ahead
      if (next !== undefined) ahead = read(next)
      // One transaction cannot be read while rows are copied into it.
      if (!run.isWhole && work.isOne) await writer.drain()
      if (!run.isWhole) await loadStates(work.twins, { chainId, deriving: run.deriving, blocks, place: beside })
      const results = await deriveInTurns(blocks, run)
      run.events += blocks.reduce((sum, block) => sum + block.logs.length, 0)
      const [end, { events }] = [next === undefined ? range.to : next - 1, run]
      await writer.add(() => work.commit(end, events, (tx) => writeResults(tx, run, results)))
      run.report(blocks.at(-1)?.number ?? range.to, events)
      if (run.deriving.reduce((sum, { projection, state }) => sum + projection.size(state), 0) > run.stateMax) {
        await writer.drain()
        await work.letGo()
        for (const each of run.deriving) each.state = each.projection.open(false)
        run.isWhole = false
      }
      if (next === undefined) break
    }
  } finally {
    await writer.drain()
  }
}

async function readStored(
  db: Queryable,
  { chainId, opened }: Run,
  range: { from: number; to: number; logsMax: number },
) {
  const { blocks, next } = await readRawBlocks(db, { chainId, ...range })
  return { blocks: await withObservations(db, { chainId, all: opened, blocks }), next }
}

/** Derives blocks in order and lets other work have its turn in between. */
async function deriveInTurns(blocks: readonly RawBlock[], run: Run): Promise<ReadonlyMap<string, unknown>[]> {
  const results: ReadonlyMap<string, unknown>[] = []
  let logs = 0
  for (const block of blocks) {
    results.push(deriveBlock(block, run.chainId, run.deriving))
    logs += block.logs.length
    if (logs < logsPerTurn) continue
    logs = 0
    await nextTurn()
  }
  return results
}

async function writeResults(
  tx: Transaction,
  { chainId, deriving }: Run,
  results: readonly ReadonlyMap<string, unknown>[],
): Promise<void> {
  for (const { projection, config } of deriving) {
    const rows = results.map((result) => result.get(projection.name))
    await projection.write(tx, rows, { chainId, config, place: beside, isLive: false })
  }
}

async function settle(tx: Transaction, { chainId, opened }: Run): Promise<void> {
  for (const { projection } of opened) await projection.settle?.(tx, { chainId, place: beside })
}

/**
 * Work for the database, done in order. `add` waits only while too much is under way; `drain` waits for all of it. After a
 * failure the rest is skipped, and both throw it.
 */
function createWriter(): { add(work: () => Promise<void>): Promise<void>; drain(): Promise<void> } {
  const waiting: Promise<void>[] = []
  let last = Promise.resolve()
  return {
    add: async (work) => {
      last = last.then(work)
      last.catch(() => undefined)
      waiting.push(last)
      if (waiting.length > waitingMax) await waiting.shift()
    },
    drain: () => last,
  }
}
