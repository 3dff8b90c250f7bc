import type { Header, RawBlock } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { decide, isLive } from './decide.js'
import type { Engine } from './engine.js'
import { CursorMoved, ForkFound, isContradiction, isOfNode } from './failures.js'
import { readFinal } from './finality.js'
import { describeBehind, isBehind, isMissedTooLong, isOtherBelow, leaveLate } from './missedTip.js'
import { mayObserve, readAnswers } from './observations.js'
import type { Memory, State, Step, TurnResult } from './state.js'
import { readBlocks } from './steps/blocks.js'
import { type ForkRead, readFork } from './steps/fork.js'
import { readPast } from './steps/past.js'
import { readRange } from './steps/range.js'
import { describeFound, finalEnd, readRecheck } from './steps/recheck.js'
import { type Above, waitForCalm } from './steps/step.js'
import { areTracesAwaited, readTraces } from './steps/traces.js'
import type { ChainState } from './storeCursors.js'

/** How long the head may stand still before another node is asked for its head. */
const stillMsMax = 30_000
/** How long a refused reorganisation is not looked into again: the search reads all blocks down to the common ancestor. */
const refusedMs = 60_000

/**
 * One turn of a chain: the state is loaded, and step after step decided, read of a node, and written in one transaction.
 * The head is recorded before the steps for which only a chain at its head has time.
 */
export async function takeTurn(engine: Engine, memory: Memory): Promise<TurnResult> {
  try {
    const head = await engine.node.findHeader('latest')
    if (!head) return 'idle'
    await assertMoving(engine, memory, head)
    return await follow(engine, await begin(engine, memory, head))
  } catch (error) {
    const isWrong = isContradiction(error)
    if (isWrong) memory.suspect.untilMs = engine.clock.monotonicMs() + engine.calmMs
    if (isWrong || error instanceof RpcError) engine.node.markUnreliable()
    throw error
  }
}

async function follow(engine: Engine, begun: State): Promise<TurnResult> {
  try {
    let state = await stepThrough(engine, await withFinal(engine, begun), ['fork', 'range', 'blocks'])
    if (state.result) return state.result
    if (isBehind(state) && (await leaveLate(engine, state))) return 'progress'
    state = await stepThrough(engine, await withOwnFinal(engine, state), ['confirm', 'past'])
    if ((await recordHead(engine, state)) === 'stalled') return 'stalled'
    state = await stepThrough(engine, state, ['traces', 'recheck'])
    return state.cursor.blockNumber < state.head.number || state.isMore || state.isMoreToCheck ? 'progress' : 'idle'
  } catch (error) {
    if (error instanceof CursorMoved) return 'idle'
    throw error
  }
}

async function begin(engine: Engine, memory: Memory, head: Header): Promise<State> {
  const { chain, store, pace, clock } = engine
  const stored = await store.begin(head, memory.held)
  memory.held = stored.held
  const state: State = {
    ...{ chain, ...stored, head, pace, memory, final: { number: stored.cursor.finalizedNumber } },
    ...{ isForked: false, isMore: false, isMoreToCheck: false, areTracesAwaited: false, done: [] },
    nowMs: clock.monotonicMs(),
  }
  return { ...state, isForked: await isOtherBelow(engine, state) }
}

/** Runs steps as long as the next one is among these. */
async function stepThrough(engine: Engine, begun: State, steps: readonly Step[]): Promise<State> {
  for (let state = begun; ; ) {
    const { memory } = state
    const nowMs = engine.clock.monotonicMs()
    state = { ...state, nowMs, areTracesAwaited: areTracesAwaited(engine.tracing, memory) }
    const step = decide(state)
    if (step === 'rest' || !steps.includes(step)) return state
    const changed = await takeStep(engine, state, step)
    if (changed.held) memory.held = changed.held
    state = { ...state, ...changed, done: [...state.done, step] }
  }
}

async function takeStep(engine: Engine, state: State, step: Exclude<Step, 'rest'>): Promise<Partial<State>> {
  const { memory, cursor } = state
  try {
    return await steps[step](engine, state)
  } catch (error) {
    if (error instanceof ForkFound) return { isForked: true }
    throw error
  } finally {
    if (memory.isPastDoubted) await engine.store.doubtPast(cursor)
    memory.isPastDoubted = false
  }
}

/** Each step: what it loads, reads of a node and writes. Returns what changed of the state. */
const steps: Record<Exclude<Step, 'rest'>, (engine: Engine, state: State) => Promise<Partial<State>>> = {
  range: async (engine, state) => {
    const above = await observed(engine, state, await readRange(engine, state))
    return engine.store.commit(believeFinal(state, above.tip), { step: 'range', above })
  },
  blocks: async (engine, state) => {
    const above = await observed(engine, state, await readBlocks(engine, state))
    return engine.store.commit(state, { step: 'blocks', above })
  },
  fork: async (engine, state) => {
    const { memory, cursor, nowMs } = state
    const { refused } = memory
    if (refused?.tip === cursor.blockHash && nowMs - refused.atMs < refusedMs)
      return { result: await keepReason(engine, state, refused.read) }
    const read = await readFork(engine, state, await engine.store.load('fork', state))
    if (read.kind === 'search') return { isForked: true, search: read.search }
    if (read.kind === 'same') return { result: 'progress' }
    if (read.kind === 'refuse') memory.refused = { tip: cursor.blockHash, read, atMs: nowMs }
    if (read.kind !== 'rewind') return { result: await keepReason(engine, state, read) }
    const { ancestor } = read
    const changed = await engine.store.commit(state, { step: 'fork', ancestor })
    const [chainId, from, to] = [state.chain.chainId, cursor.blockNumber, ancestor.number]
    engine.log.warn({ chainId, from, to }, 'reorganisation')
    return { ...changed, result: 'progress' }
  },
  confirm: (engine, state) => engine.store.commit(state, { step: 'confirm' }),
  past: async (engine, state) => {
    const plan = await engine.store.load('past', state)
    if (!plan) return { isMore: true }
    const blocks = await observe(engine, state, await readPast(engine, state, plan))
    const changed = await engine.store.commit(state, { step: 'past', plan, blocks })
    if (plan.kind === 'join') {
      const sources = plan.group.map(({ key }) => key)
      engine.log.info({ chainId: state.chain.chainId, sources }, 'sources added later have caught up')
    }
    return { ...changed, isMore: true }
  },
  traces: async (engine, state) => {
    const due = await engine.store.load('traces', state)
    if (!due) return {}
    return engine.store.commit(state, { step: 'traces', asked: await readTraces(engine, state, due) })
  },
  recheck: async (engine, state) => {
    state.memory.again.atMs = state.nowMs
    try {
      return await lookAgain(engine, state)
    } catch (error) {
      if (error instanceof CursorMoved) return { isMoreToCheck: true }
      if (!isOfNode(error)) throw error
      // The head does not wait for it.
      waitForCalm(engine, state)
      if (isContradiction(error)) engine.node.markUnreliable()
      engine.log.warn({ chainId: state.chain.chainId, err: error }, 'final blocks could not be looked at again yet')
      return {}
    }
  },
}

async function lookAgain(engine: Engine, state: State): Promise<Partial<State>> {
  const { store, log } = engine
  const stored = await store.load('recheck', state)
  if (!stored) return {}
  const looked = await readRecheck(engine, state, stored)
  const found = { ...looked, blocks: await observe(engine, state, looked.blocks) }
  const checkedTo = stored.range.to
  const changed = await store.commit(state, { step: 'recheck', found, checkedTo })
  const { chainId } = state.chain
  if (found.blocks.length > 0) log.warn({ chainId, ...describeFound(found) }, 'final blocks were wrong: repaired')
  return { ...changed, isMoreToCheck: checkedTo < finalEnd(state) }
}

/** Adds observations to blocks: contract views at their hashes. */
async function observe(engine: Engine, state: State, blocks: readonly RawBlock[]): Promise<readonly RawBlock[]> {
  if (!mayObserve(engine.node, blocks)) return blocks
  return readAnswers(engine.node, blocks, await engine.store.ask(state, blocks))
}

async function observed(engine: Engine, state: State, above: Above): Promise<Above> {
  return { ...above, blocks: await observe(engine, state, above.blocks) }
}

/** Stores the reason why a fork was not taken back. The head of the node is recorded, so that the lag is seen. */
async function keepReason(
  engine: Engine,
  state: State,
  { kind, reason }: Extract<ForkRead, { reason: string }>,
): Promise<TurnResult> {
  const { store, say, log } = engine
  const { chain, cursor, head } = state
  const { finalizedNumber } = cursor
  const about = { chainId: chain.chainId, block: cursor.blockNumber }
  if (kind === 'refuse' || (await isMissedTooLong(engine, state))) {
    // A head that is doubted confirms nothing.
    const headNumber = kind === 'refuse' ? Math.max(cursor.headNumber, head.number) : cursor.headNumber
    await store.recordHead(cursor, { headNumber, finalizedNumber, state: 'stalled', reason, nodeHead: head.number })
    say(about, reason)
    return 'stalled'
  }
  const { headNumber, state: before } = cursor
  await store.recordHead(cursor, { headNumber, finalizedNumber, state: before, reason, nodeHead: head.number })
  log.warn(about, `${reason}; nothing is taken back yet`)
  return 'idle'
}

/** Records the head, and whether the chain is live. A head below the tip is lag; one that stays there stalls the chain. */
async function recordHead(engine: Engine, state: State): Promise<ChainState> {
  const { store, log, say, tellProgress } = engine
  const { cursor, head, chain } = state
  const progress = tellProgress(cursor.blockNumber, isLive(state) ? cursor.blockNumber : head.number)
  if (progress) log.info({ chainId: chain.chainId }, progress)
  const isStalled = isBehind(state) && (await isMissedTooLong(engine, state))
  const reason = isStalled ? describeBehind(state) : null
  if (reason !== null) say({ chainId: chain.chainId, block: cursor.blockNumber }, reason)
  const at = isLive(state) && !state.isMore ? 'live' : 'backfilling'
  const recorded = isStalled ? 'stalled' : at
  await store.recordHead(cursor, {
    headNumber: Math.max(head.number, cursor.blockNumber),
    finalizedNumber: cursor.finalizedNumber,
    state: recorded,
    reason,
    ...(isBehind(state) ? { nodeHead: head.number } : {}),
  })
  return recorded
}

/** A node that stands still is left when another one goes on. */
async function assertMoving({ node, clock, log, chain }: Engine, memory: Memory, head: Header): Promise<void> {
  const nowMs = clock.monotonicMs()
  if (head.number > memory.moved.number) memory.moved = { number: head.number, atMs: nowMs }
  if (nowMs - memory.moved.atMs < stillMsMax) return
  memory.moved.atMs = nowMs
  // No response is no evidence.
  const theirs = await node
    .secondary()
    ?.findHeader('latest')
    .catch(() => undefined)
  if (!theirs || theirs.number <= head.number) return
  node.markUnreliable()
  log.warn({ chainId: chain.chainId, head: head.number, theirs: theirs.number }, 'a node has stood still: left')
}

/** Adds the final block by the node's word. It is not read for a forked chain. */
async function withFinal(engine: Engine, state: State): Promise<State> {
  return decide(state) === 'fork' ? state : { ...state, final: await readFinal(engine, state) }
}

/**
 * A window of the past is final by the node's word, below the last final block or with it. So the blocks are confirmed when
 * they are written, and nothing is put off.
 */
function believeFinal(state: State, tip: Header): State {
  const { number, hash } = state.final
  if (number === null || number < tip.number || (number === tip.number && hash !== tip.hash)) return state
  return { ...state, cursor: { ...state.cursor, finalizedNumber: number } }
}

/** The same, unless the final block of the node is not ours: it may be of another branch. */
async function withOwnFinal({ store, log, chain }: Engine, state: State): Promise<State> {
  const { cursor, final } = state
  const { number, hash } = final
  const believed = (finalizedNumber: number | null): State => ({ ...state, cursor: { ...cursor, finalizedNumber } })
  if (number === null || hash === undefined || number > cursor.blockNumber) return believed(number)
  const held = await store.hashAt(number)
  if (held === undefined || held === hash) return believed(number)
  const about = { chainId: chain.chainId, block: number }
  log.warn(about, 'a node calls another block final than ours; not believed yet')
  return state
}
