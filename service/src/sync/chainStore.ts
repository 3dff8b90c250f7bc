import type { Context } from '../postgres/context.js'
import { type Database, inTransaction, type Transaction } from '../postgres/pool.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import type { Tell } from './apply.js'
import { lockAt, takeUpConfiguration } from './configure.js'
import { CursorMoved } from './failures.js'
import { type Asked as AskedViews, listQuestions } from './observations.js'
import { assertOrder, type Projections } from './projection.js'
import type { Ancestor, Asked, Held, Standing, State } from './state.js'
import { commitBlocks } from './steps/blocks.js'
import { commitConfirm, findConfirmedTo } from './steps/confirm.js'
import { ancestorBatch, commitFork, searchOf } from './steps/fork.js'
import { commitPast, type PastPlan, planPast } from './steps/past.js'
import { commitRecheck, type Found, loadRecheck, type StoredRange } from './steps/recheck.js'
import type { Above, Reaction, Tracing, Writing } from './steps/step.js'
import { commitTraces, type Due, loadTraces, recountAwaited } from './steps/traces.js'
import { type ChainState, type Cursor, createCursor, findCursor, recordChecked, recordHead } from './storeCursors.js'
import { findBlockHash, listHeadersDown, readMeanBlockSeconds } from './storeRaw.js'
import { findConfigurationVersion, listSources } from './storeSources.js'
import { loadConfigurations, startBlockOf, takeUp } from './taken.js'

export type HeadRecord = {
  headNumber: number
  finalizedNumber: number | null
  state: ChainState
  reason: string | null
  /** The head of a node that did not show our tip; absent where it does. */
  nodeHead?: number | null
}

/** The rows that each step loads before it calls a node. Undefined: the step has nothing to do. */
export type Loaded = {
  fork: readonly Header[]
  past: PastPlan | undefined
  recheck: StoredRange | undefined
  traces: Due | undefined
}

/** The result of the reading half of a step, for the writing half. */
export type Read =
  | { step: 'range'; above: Above }
  | { step: 'blocks'; above: Above }
  | { step: 'fork'; ancestor: Ancestor; byOperator?: boolean }
  | { step: 'past'; plan: PastPlan; blocks: readonly RawBlock[] }
  | { step: 'confirm' }
  | { step: 'recheck'; found: Found; checkedTo: number }
  | { step: 'traces'; asked: Asked | undefined }

/** The database as a turn uses it. It calls no node. */
export type ChainStore = {
  /** Loads the cursor with the present configuration. `head` starts a chain that has nothing to read. */
  begin(head: Header, held?: Held): Promise<Pick<State, 'cursor' | 'held' | 'hashAtHead'>>
  load<S extends keyof Loaded>(step: S, state: State): Promise<Loaded[S]>
  /** The contract views that the projections need at these blocks. */
  ask(state: Standing, blocks: readonly RawBlock[]): Promise<readonly AskedViews[]>
  /**
   * Writes a step in one transaction, and returns what it changed of the state. Throws `CursorMoved` when the cursor or the
   * configuration is not where the state has it.
   */
  commit(state: Standing, read: Read): Promise<Partial<State>>
  /** Does nothing if the cursor has moved. */
  recordHead(cursor: Cursor, head: HeadRecord): Promise<void>
  /** Marks the whole past for a second look: a node was caught omitting logs. */
  doubtPast(cursor: Cursor): Promise<void>
  hashAt(number: number): Promise<string | undefined>
  /** Seconds from one block to the next; 0 where the kept blocks do not tell. */
  meanBlockSeconds(): Promise<number>
}

export type StoreOptions = {
  chainId: number
  projections: Projections
  reactions?: readonly Reaction[]
  /** Absent: nobody is told. */
  tell?: Tell | undefined
  /** Blocks of one window when logs of a source added later are fetched. */
  backfillWindow?: number
  /** Absent: no traces are requested. */
  tracing?: Tracing | undefined
}

type Ctx = Pick<Context, 'db' | 'clock' | 'log'>

/** Blocks before the head at the first start that are compared with their headers as all later ones are. */
const followedBefore = 10_000
const backfillWindowDefault = 5_000

/** The database of a chain. It keeps no state between turns. */
export function openStore(ctx: Ctx, options: StoreOptions): ChainStore {
  const { db, log } = ctx
  const { chainId, projections, reactions = [], tracing, tell } = options
  assertOrder(projections.derived)
  const load: { [S in keyof Loaded]: (state: State) => Promise<Loaded[S]> } = {
    fork: (state) => listHeadersDown(db, chainId, searchOf(state).from, ancestorBatch),
    past: (state) => planPast(db, state, options.backfillWindow ?? backfillWindowDefault),
    recheck: (state) => loadRecheck(db, state),
    traces: (state) => loadTraces(db, { ...ctx, tracing }, state),
  }
  return {
    begin: (head, held) => begin(ctx, options, head, held),
    load: (step, state) => load[step](state),
    ask: (state, blocks) => listQuestions(db, { chainId, opened: state.held.taken.full, blocks }),
    commit: async (state, read) => {
      const written = await inTransaction(db, async (tx) => {
        await lockSame(tx, state)
        const written = await write(
          { ...ctx, tx, tracing, tell, reactions, observed: projections.observed },
          state,
          read,
        )
        await react(tx, reactions, state, tipOf(state, read))
        return written
      })
      return { ...written, ...(await reload(db, state, read)) }
    },
    recordHead: (cursor, head) =>
      inTransaction(db, (tx) => recordHead(tx, { chainId, cursor, ...head, at: ctx.clock.now() })),
    doubtPast: async ({ startBlock }) => {
      const say = 'a node left logs out of the past: all that was read of it is looked at again'
      log.warn({ chainId, from: startBlock }, say)
      await inTransaction(db, (tx) => recordChecked(tx, chainId, startBlock - 1))
    },
    hashAt: (number) => findBlockHash(db, chainId, number),
    meanBlockSeconds: () => readMeanBlockSeconds(db, chainId),
  }
}

async function begin(
  ctx: Ctx,
  { chainId, projections: { derived } }: StoreOptions,
  head: Header,
  before: Held | undefined,
): Promise<Pick<State, 'cursor' | 'held' | 'hashAtHead'>> {
  const { db, clock, log } = ctx
  let cursor = await findCursor(db, chainId)
  if (!cursor) {
    const start = startBlockOf(await loadConfigurations(db, chainId, derived)) ?? head.number
    const followedFrom = head.number - followedBefore + 1
    await inTransaction(db, (tx) => createCursor(tx, chainId, start, clock.now(), followedFrom))
    cursor = await reloadCursor(db, chainId)
  }
  const version = await findConfigurationVersion(db, chainId)
  const held =
    before?.version === version
      ? before
      : { version, taken: await takeUpConfiguration(db, { cursor, projections: derived, log }) }
  const hashAtHead = head.number < cursor.blockNumber ? await findBlockHash(db, chainId, head.number) : cursor.blockHash
  return { cursor, held, hashAtHead }
}

/**
 * Locks the chain at the cursor of the state. Also fails if another process has loaded a newer configuration or added a
 * source. Otherwise this process would store blocks without that source's logs.
 */
async function lockSame(tx: Transaction, { cursor, held }: Standing): Promise<void> {
  await lockAt(tx, cursor)
  if ((await findConfigurationVersion(tx, cursor.chainId)) !== held.version)
    throw new CursorMoved('the configuration has changed')
}

async function write(to: Writing, state: Standing, read: Read): Promise<Partial<State>> {
  switch (read.step) {
    case 'range':
    case 'blocks':
      await commitBlocks(to, state, read.above)
      return {}
    case 'fork':
      await commitFork(to, state, read)
      return {}
    case 'past':
      await commitPast(to, state, read)
      return {}
    case 'confirm':
      return { isMore: await commitConfirm(to, state) }
    case 'recheck':
      await commitRecheck(to, state, read)
      return {}
    case 'traces':
      await commitTraces(to, state, read.asked)
      return {}
  }
}

/** The last derived block after a step. */
function tipOf({ cursor }: Standing, read: Read): number {
  if (read.step === 'range' || read.step === 'blocks') return read.above.tip.number
  return read.step === 'fork' ? read.ancestor.number : cursor.blockNumber
}

/** Tells reactions where the step has left the chain. */
async function react(tx: Transaction, reactions: readonly Reaction[], state: Standing, tip: number): Promise<void> {
  const asked = reactions.filter(({ onWritten }) => onWritten)
  if (asked.length === 0) return
  const { chainId, headNumber } = state.cursor
  const head = state.head?.number ?? headNumber
  const confirmedTo = await findConfirmedTo(tx, state, tip)
  for (const reaction of asked) await reaction.onWritten?.(tx, { chainId, tip, confirmedTo, head })
}

/** Loads the parts of the state that a written step has changed. */
async function reload(db: Database, state: Standing, { step }: Read): Promise<Partial<State>> {
  const { chainId } = state.cursor
  switch (step) {
    case 'range':
    case 'blocks':
      return { cursor: await reloadCursor(db, chainId) }
    case 'fork':
      // Logs of sources added later were deleted with the orphaned blocks.
      return { held: await reloadSources(db, state), cursor: await reloadCursor(db, chainId) }
    case 'past':
      return { held: await reloadSources(db, state) }
    case 'traces':
      await recountAwaited(db, state)
      return {}
    default:
      return {}
  }
}

async function reloadCursor(db: Database, chainId: number): Promise<Cursor> {
  const cursor = await findCursor(db, chainId)
  if (!cursor) throw new CursorMoved('the cursor is gone')
  return cursor
}

async function reloadSources(db: Database, { held, cursor }: Standing): Promise<Held> {
  return { ...held, taken: takeUp(held.taken.full, await listSources(db, cursor.chainId)) }
}
