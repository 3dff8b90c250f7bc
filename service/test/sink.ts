import type { Clock } from '../src/kernel/clock.js'
import type { Log } from '../src/kernel/log.js'
import type { Context } from '../src/postgres/context.js'
import type { Node } from '../src/rpc/node.js'
import type { Header, RawBlock } from '../src/rpc/raw.js'
import { type ChainStore, type HeadRecord, openStore, type Read, type StoreOptions } from '../src/sync/chainStore.js'
import { openEngine } from '../src/sync/engine.js'
import type { Checks, Range } from '../src/sync/fetch.js'
import { mayObserve, readAnswers } from '../src/sync/observations.js'
import { takeTurn } from '../src/sync/run.js'
import {
  createMemory,
  type Pace,
  type Standing,
  type State,
  type SuspectRange,
  type TurnResult,
  type WatchSettings,
} from '../src/sync/state.js'
import { ancestorBatch, searchOf } from '../src/sync/steps/fork.js'
import { readPast } from '../src/sync/steps/past.js'
import { finalEnd, readRecheck } from '../src/sync/steps/recheck.js'
import type { Reaction, Reading, Tracing } from '../src/sync/steps/step.js'
import type { Cursor } from '../src/sync/storeCursors.js'
import type { WatchList } from '../src/sync/watchList.js'

export { CursorMoved } from '../src/sync/failures.js'
export type { HeadRecord, Reaction, SuspectRange }

/**
 * The database of a chain as tests take hold of it: a method for each thing that a turn writes. A turn that is run over a
 * sink writes through these methods, so a test may fail in between, or keep nothing in a database at all.
 */
export type Sink = {
  refresh(head: Header): Promise<Cursor>
  watchList(): WatchList
  complete(node: Node, blocks: readonly RawBlock[]): Promise<readonly RawBlock[]>
  append(cursor: Cursor, blocks: readonly RawBlock[], tip: Header): Promise<Cursor>
  rewind(cursor: Cursor, ancestor: { number: number; hash: string }, by?: { byOperator: boolean }): Promise<Cursor>
  /** Confirms what is deep enough, and reads a window of the past. Returns whether there is more to do. */
  backfill(cursor: Cursor, node: Node, checksOf: (range: Range) => Checks): Promise<boolean>
  recheck(cursor: Cursor, node: Node, isDoubted: (number: number) => boolean): Promise<boolean>
  takeTraces(cursor: Cursor): Promise<void>
  doubtPast(cursor: Cursor): Promise<void>
  recordHead(cursor: Cursor, head: HeadRecord): Promise<void>
  localHash(number: number): Promise<string | undefined>
  listHeadersDown(from: number, count: number): Promise<Header[]>
}

/** A sink over a database. A wrapped one still has it. */
type Real = { store: ChainStore; tracing: Tracing | undefined; write?: (() => Promise<Partial<State>>) | undefined }
const real = Symbol('real')
const realOf = (sink: Sink): Real | undefined => (sink as { [real]?: Real })[real]

type Ctx = Pick<Context, 'db' | 'clock' | 'log'>

/** The sink over the database of a chain. */
export function createSink(ctx: Ctx, options: StoreOptions): Sink {
  const store = openStore(ctx, options)
  const own: Real = { store, tracing: options.tracing }
  const memory = createMemory(ctx.clock)
  const standing = (cursor: Cursor): Standing => {
    if (!memory.held) throw new Error('the sink was used before it was refreshed')
    return { cursor, held: memory.held, memory }
  }
  /** Writes what a turn is about to write, or else what the caller hands over. */
  const write = async (cursor: Cursor, read?: Read): Promise<Partial<State>> => {
    const { write: pending } = own
    own.write = undefined
    if (pending) return pending()
    if (!read) throw new Error('this is written in a turn only')
    const changed = await store.commit(standing(cursor), read)
    if (changed.held) memory.held = changed.held
    return changed
  }
  const sink: Sink = {
    refresh: async (head) => {
      const { cursor, held } = await store.begin(head, memory.held)
      memory.held = held
      return cursor
    },
    watchList: () => standing({} as Cursor).held.taken.list,
    complete: async (node, blocks) =>
      mayObserve(node, blocks) ? readAnswers(node, blocks, await store.ask(standing({} as Cursor), blocks)) : blocks,
    append: async (cursor, blocks, tip) =>
      (await write(cursor, { step: 'blocks', above: { blocks, tip } })).cursor ?? cursor,
    rewind: async (cursor, ancestor, by) => (await write(cursor, { step: 'fork', ancestor, ...by })).cursor ?? cursor,
    backfill: async (cursor, node) => {
      if (own.write) return (await write(cursor)).isMore ?? true
      if ((await write(cursor, { step: 'confirm' })).isMore) return true
      const state = { ...standing(cursor), chain: { chainId: cursor.chainId } } as State
      const plan = await store.load('past', state)
      if (!plan) return false
      const blocks = await readPast({ node, random: () => 1 } as Reading, state, plan)
      await write(cursor, { step: 'past', plan, blocks })
      return true
    },
    recheck: async (cursor, node) => {
      if (own.write) return (await write(cursor)).isMoreToCheck ?? false
      const state = standing(cursor) as State
      const stored = await store.load('recheck', state)
      if (!stored) return false
      const found = await readRecheck({ node, random: () => 1 } as Reading, state, stored)
      await write(cursor, { step: 'recheck', found, checkedTo: stored.range.to })
      return stored.range.to < finalEnd(state)
    },
    takeTraces: async (cursor) => void (await write(cursor)),
    doubtPast: (cursor) => store.doubtPast(cursor),
    recordHead: (cursor, head) => store.recordHead(cursor, head),
    localHash: (number) => store.hashAt(number),
    listHeadersDown: async (from, count) => {
      const held = await store.load('fork', { search: { from, by: 'first' } } as State)
      return held.slice(0, count)
    },
  }
  return Object.assign(sink, { [real]: own })
}

/** A database that is asked as it is, and written through a sink's methods. */
function writeThrough(sink: Sink, own: Real, node: Node): ChainStore {
  const pass: { [S in Read['step']]: (cursor: Cursor, read: Extract<Read, { step: S }>) => Promise<unknown> } = {
    range: (cursor, { above }) => sink.append(cursor, above.blocks, above.tip),
    blocks: (cursor, { above }) => sink.append(cursor, above.blocks, above.tip),
    fork: (cursor, { ancestor }) => sink.rewind(cursor, ancestor),
    confirm: (cursor) => sink.backfill(cursor, node, () => ({})),
    past: (cursor) => sink.backfill(cursor, node, () => ({})),
    recheck: (cursor) => sink.recheck(cursor, node, () => false),
    traces: (cursor) => sink.takeTraces(cursor),
  }
  return {
    ...own.store,
    commit: async (state, read) => {
      let changed: Partial<State> = {}
      own.write = async () => {
        changed = await own.store.commit(state, read)
        return changed
      }
      await pass[read.step](state.cursor, read as never)
      return changed
    },
    recordHead: (cursor, head) => sink.recordHead(cursor, head),
    doubtPast: (cursor) => sink.doubtPast(cursor),
  }
}

/** A store for a sink that has no database. */
function storeOf(sink: Sink, node: Node): ChainStore {
  const load = async (step: string, state: State): Promise<unknown> => {
    if (step === 'fork') return sink.listHeadersDown(searchOf(state).from, ancestorBatch)
    if (step === 'recheck') await sink.recheck(state.cursor, node, () => false)
    return undefined
  }
  return {
    begin: async (head) => {
      const cursor = await sink.refresh(head)
      const hashAtHead = head.number < cursor.blockNumber ? await sink.localHash(head.number) : cursor.blockHash
      const taken = { full: [], sources: [], opened: [], list: sink.watchList() }
      return { cursor, hashAtHead, held: { version: '', taken } }
    },
    load: load as ChainStore['load'],
    ask: async () => [],
    commit: async ({ cursor }, read) => {
      if (read.step === 'range' || read.step === 'blocks')
        return { cursor: await sink.append(cursor, read.above.blocks, read.above.tip) }
      return read.step === 'fork' ? { cursor: await sink.rewind(cursor, read.ancestor) } : {}
    },
    recordHead: (cursor, head) => sink.recordHead(cursor, head),
    doubtPast: (cursor) => sink.doubtPast(cursor),
    hashAt: (number) => sink.localHash(number),
    meanBlockSeconds: async () => 1,
  }
}

export type Watcher = {
  /** One turn of the chain. */
  step(): Promise<TurnResult>
}

/** Follows a chain over a sink, a turn at a time. */
export function createWatcher(options: {
  chain: WatchSettings
  node: Node
  sink: Sink
  clock: Clock
  log: Log
  windowMax?: number
  random?: () => number
  suspect?: SuspectRange
  calmMs?: number
  pace?: Pace
}): Watcher {
  const { sink, suspect, ...rest } = options
  const own = realOf(sink)
  const store = own ? writeThrough(sink, own, options.node) : storeOf(sink, options.node)
  const engine = openEngine({ ...rest, store, tracing: own?.tracing })
  const memory = createMemory(options.clock, suspect)
  return { step: () => takeTurn(engine, memory) }
}
