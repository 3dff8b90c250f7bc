import { expect } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { systemClock } from '../../src/kernel/clock.js'
import type { Log } from '../../src/kernel/log.js'
import { createOutbound } from '../../src/kernel/outbound.js'
import { type Chain, openChain } from '../../src/rpc/chains.js'
import { computeStateHash } from '../../src/server/stateHash.js'
import { startWatching, type WatchOptions } from '../../src/server/watch.js'
import { type Cursor, findCursor } from '../../src/sync/storeCursors.js'
import { openEarn } from '../harness.js'
import { hurriedClock } from '../hurriedClock.js'
import { rebuildChain } from '../pipeline.js'
import { type Fault, startBadNode } from './badNode.js'
import { chainId, openWatchWorld } from './watchWorld.js'

export type BadNode = Awaited<ReturnType<typeof startBadNode>>
export type FaultWorld = Awaited<ReturnType<typeof openFaultWorld>>

/** What is tried again after seconds is tried again after a fraction of them. */
const clock = hurriedClock(4)

/** A watched chain whose nodes go wrong as told. */
export async function openFaultWorld() {
  const earn = await openEarn()
  const world = await openWatchWorld(earn.db, earn.organizationId)
  const [alice, bob] = [account(1), account(2)]
  for (const user of [alice, bob]) await world.fund(user, 1_000_000_000n)
  const nodes: BadNode[] = []

  const cursor = async (): Promise<Cursor> => {
    const found = await findCursor(earn.db, chainId)
    if (!found) throw new Error('never watched')
    return found
  }
  const head = async () => Number(await world.anvil.client.getBlockNumber())

  return {
    earn,
    world,
    alice,
    bob,
    cursor,
    head,

    /** A node in front of the chain's own. */
    badNode: async (fault?: Fault): Promise<BadNode> => {
      const node = await startBadNode(world.anvil.url)
      node.state.fault = fault
      nodes.push(node)
      return node
    },
    stopNodes: async (): Promise<void> => {
      for (const node of nodes.splice(0)) await node.stop()
    },

    /** The chain over these urls; with `patienceMs` an answer that takes longer is given up, without another try. */
    chainOver: (rpcUrls: readonly string[], patienceMs?: number): Chain => {
      const outbound = createOutbound(clock)
      const impatient: Pick<typeof outbound, 'fetchText'> = {
        fetchText: (request) => outbound.fetchText({ ...request, timeoutMs: patienceMs ?? 0, retries: 0 }),
      }
      const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
      // 50 ms of the system's time.
      return openChain(patienceMs === undefined ? outbound : impatient, { ...own, pollIntervalMs: 200, rpcUrls })
    },

    /** Follows the chain while `work` runs. */
    watching: async (
      chain: Chain,
      work: () => Promise<void>,
      options: WatchOptions & { log?: Log; db?: typeof earn.db } = {},
    ): Promise<void> => {
      const { log = earn.ctx.log, db = earn.db, ...own } = options
      const running = startWatching({ ...earn.ctx, db, log, clock, chains: new Map([[chainId, chain]]) }, own)
      try {
        await work()
      } finally {
        await running.stop()
      }
    },

    /** Until what is at the head now is derived. */
    caughtUp: async (): Promise<void> => {
      const number = await head()
      await until(`block ${number}`, async () => ((await findCursor(earn.db, chainId))?.blockNumber ?? -1) >= number)
    },

    /** A rebuild gives what was derived live. */
    expectRebuilt: async (): Promise<void> => {
      const hash = await computeStateHash(earn.db, chainId)
      expect((await rebuildChain({ db: earn.db, clock: systemClock }, { chainId })).hash).toBe(hash)
    },

    close: async (): Promise<void> => {
      await world.close()
      await earn.close()
    },
  }
}

/** A fault of some methods only. */
export const only =
  (methods: readonly string[], wrong: Fault): Fault =>
  (call, truth) =>
    methods.includes(call.method) ? wrong(call, truth) : undefined
