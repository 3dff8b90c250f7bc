import { within } from '../kernel/async/within.js'
import { hasNoRoom, isDatabaseUnavailable } from '../postgres/pool.js'
import type { Chain, ChainContext } from '../rpc/chains.js'
import { followHeads } from '../rpc/heads.js'
import { createNode } from '../rpc/node.js'
import { WrongChain } from '../rpc/rpc.js'
import { openStore } from '../sync/chainStore.js'
import { openEngine } from '../sync/engine.js'
import { createAlarmLog } from '../sync/progress.js'
import type { Projections } from '../sync/projection.js'
import { takeTurn } from '../sync/run.js'
import { createMemory, type Pace, type SuspectRange } from '../sync/state.js'
import type { Reaction } from '../sync/steps/step.js'
import { recordStall } from '../sync/storeCursors.js'
import { fenced, LockLost, writeAs } from '../sync/storeLeaders.js'
import type { FencedLock } from '../sync/storeLocks.js'
import { createHeadAlarm } from './headAlarm.js'
import { listProjections } from './projections.js'
import { noRoom } from './quietLog.js'
import { type Shares, shareChains } from './shareChains.js'
import { openTracing } from './tracing.js'

export type WatchOptions = {
  /** The projections to derive; absent: all. */
  projections?: Projections
  /** Work of slices in the transaction of the rows they depend on. */
  reactions?: readonly Reaction[]
  /** Most blocks read in one window of the past. */
  windowMax?: number
  /** How long after a contradiction, or a window of the past, final blocks are not looked at again. */
  calmMs?: number
  /** How often nodes are called, apart from their heads. */
  pace?: Pace
  /** How often a node is asked what is final, instead. */
  finalMs?: number
  /** Told of every failure after which the chain is looked at again. */
  onRetry?: (chainId: number) => void
}

/** Names no url: every reader of the indexing status may see it. */
const wrongChain = 'no RPC url that answers serves this chain: correct the urls; watching then goes on by itself'

/** A chain with 2 s blocks then costs about 1,600 calls a day, in addition to one call a block. */
export const steady: Pace = { finalMs: 120_000, againMs: 300_000, againBlocks: 200 }

/** How often a process that waits for another's lock looks again; a death is taken over within this and a moment. */
const lockRetryMs = 2_000
/** How long the first look at a chain waits for the test of its trace methods. */
const openMs = 2_000
/** The longest wait for a database that cannot be reached or is being replaced: it costs nothing to ask, and blocks pass. */
const awayMs = 1_000
/** How often the lock's connection is checked while working. */
const lockCheckMs = 5_000

/**
 * Follows its share of the chains of the context until stopped: one watcher a chain, guarded by an advisory lock whose token
 * each write compares, so that any number of processes is safe. A failure is logged and tried again; nothing is lost, because each step is one transaction.
 */
export function startWatching(ctx: ChainContext, options: WatchOptions = {}): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const shares = shareChains(ctx, [...ctx.chains.keys()])
  const { signal } = stopping
  const loops = [...ctx.chains.values()].map((chain) => watchChain(ctx, chain, options, { shares, signal }))
  return {
    stop: async () => {
      stopping.abort()
      await Promise.all(loops)
      await shares.close()
    },
  }
}

async function watchChain(
  ctx: ChainContext,
  chain: Chain,
  options: WatchOptions,
  { shares, signal }: { shares: Shares; signal: AbortSignal },
): Promise<void> {
  const log = ctx.log.child({ chainId: chain.chainId })
  const alarm = createAlarmLog(log, ctx.clock)
  let failures = 0
  const onStep = () => {
    if (failures > 0) log.info({ failures }, 'watching goes on')
    failures = 0
  }
  const suspect: SuspectRange = { to: -1 }
  while (!signal.aborted) {
    try {
      const lock = await shares.take(chain.chainId)
      if (!lock) {
        await ctx.clock.sleep(lockRetryMs, signal)
        continue
      }
      try {
        await followChain(ctx, chain, options, { lock, shares, signal, suspect, onStep })
      } finally {
        await lock.release()
      }
    } catch (error) {
      if (error instanceof LockLost) {
        log.info({ err: error }, 'the chain is followed by another process')
        continue
      }
      failures += 1
      options.onRetry?.(chain.chainId)
      const isAway = isDatabaseUnavailable(error) && !hasNoRoom(error)
      const waitMs = Math.min(250 * 2 ** Math.min(failures, 7), isAway ? awayMs : 15_000)
      if (hasNoRoom(error)) log.error({ err: error, failures }, noRoom)
      else if (error instanceof WrongChain) alarm({ err: error, failures }, wrongChain)
      else log.warn({ err: error, failures }, `watching failed; trying again in ${waitMs} ms`)
      await ctx.clock.sleep(waitMs, signal)
    }
  }
}

async function followChain(
  ctx: ChainContext,
  chain: Chain,
  options: WatchOptions,
  guard: { lock: FencedLock; shares: Shares; signal: AbortSignal; suspect: SuspectRange; onStep: () => void },
): Promise<void> {
  const { clock, log } = ctx
  const tracing = openTracing(ctx, chain)
  // A node that does not answer holds nothing up: it is tried again when something is asked.
  if (tracing) await within(tracing.tracer.open(), { clock, ms: openMs }, () => undefined)
  const { windowMax, calmMs, projections = listProjections(), reactions = [] } = options
  const pace = options.pace ?? steady
  const engine = openEngine({
    ...{ chain, clock, log, tracing, windowMax, calmMs },
    node: createNode(chain.rpc.as('watch'), tracing?.tracer),
    store: openStore(
      { ...ctx, db: fenced(ctx.db, guard.lock.fence) },
      { chainId: chain.chainId, tracing, projections, reactions },
    ),
    pace: { ...pace, finalMs: options.finalMs ?? pace.finalMs },
  })
  const memory = createMemory(clock, guard.suspect)
  let checkedMs = clock.monotonicMs()
  const alarm = createHeadAlarm(clock, chain.pollIntervalMs)
  const ending = new AbortController()
  const signal = AbortSignal.any([guard.signal, ending.signal])
  const heads = followHeads({ urls: chain.headUrls, clock, log, signal, onHead: alarm.ring })
  try {
    await stepUntilStopped()
  } finally {
    ending.abort()
    await heads
  }

  async function stepUntilStopped(): Promise<void> {
    while (!guard.signal.aborted) {
      const result = await takeTurn(engine, memory).catch(async (error: unknown) => {
        if (error instanceof WrongChain)
          await writeAs(ctx.db, guard.lock.fence, (tx) => recordStall(tx, chain.chainId, wrongChain, clock.now()))
        throw error
      })
      guard.onStep()
      if (clock.monotonicMs() - checkedMs > lockCheckMs) {
        if (!(await guard.lock.isHeld()) || (await guard.shares.isLeft(chain.chainId))) return
        checkedMs = clock.monotonicMs()
      }
      if (result !== 'progress') await alarm.sleep(guard.signal)
    }
  }
}
