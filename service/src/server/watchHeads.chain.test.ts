import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { startLine } from '../../test/chain/badNode.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { openChain } from '../rpc/chains.js'
import { followHeads } from '../rpc/heads.js'
import { findCursor } from '../sync/storeCursors.js'
import { startWatching } from './watch.js'

let earn: Earn
let world: WatchWorld
let line: Awaited<ReturnType<typeof startLine>>
const alice = account(1)

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await world.fund(alice, 1_000_000_000n)
})
beforeEach(async () => {
  line = await startLine(world.anvil.url)
})
afterEach(() => line.stop())
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

/** Follows the chain over the line; a poll interval of a minute leaves only the socket to tell of heads. */
function follow(input: { pollIntervalMs: number; ws?: boolean }) {
  const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
  const rpcUrls = input.ws === false ? [line.url] : [line.url, line.url.replace('http', 'ws')]
  const chain = openChain(createOutbound(systemClock), { ...own, pollIntervalMs: input.pollIntervalMs, rpcUrls })
  return startWatching({ ...earn.ctx, clock: systemClock, chains: new Map([[chainId, chain]]) })
}

/** Deposits, and waits until the block is derived; answers how long that took. */
async function depositAndSee(): Promise<number> {
  await world.deposit(alice, 1_234n, 'Y2Zi7KWy')
  return seen()
}

async function seen(): Promise<number> {
  const head = Number(await world.anvil.client.getBlockNumber())
  const started = systemClock.monotonicMs()
  while (((await findCursor(earn.db, chainId))?.blockNumber ?? -1) < head) {
    if (systemClock.monotonicMs() - started > 20_000) throw new Error(`block ${head} was never derived`)
    await systemClock.sleep(20)
  }
  return systemClock.monotonicMs() - started
}

describe('heads over WebSocket', () => {
  it('are announced again after the node closed the socket, and what came in between is not waited for', async () => {
    const running = follow({ pollIntervalMs: 60_000 })
    await systemClock.sleep(500)
    expect(await depositAndSee()).toBeLessThan(2_000)
    line.cut()
    // Nobody announces this one: the new connection looks for itself.
    expect(await depositAndSee()).toBeLessThan(8_000)
    await systemClock.sleep(300)
    expect(await depositAndSee()).toBeLessThan(2_000)
    await running.stop()
  }, 60_000)

  it('are found by polling while the socket is silent', async () => {
    const running = follow({ pollIntervalMs: 200 })
    await systemClock.sleep(500)
    line.silence()
    // What was on its way over the silenced line is lost; the call is made again on a new one.
    expect(await depositAndSee()).toBeLessThan(15_000)
    expect(await depositAndSee()).toBeLessThan(2_000)
    await running.stop()
  }, 60_000)

  it('are announced again after a socket that fell silent was given up', async () => {
    const stopping = new AbortController()
    let heads = 0
    const following = followHeads({
      urls: [line.url.replace('http', 'ws')],
      clock: systemClock,
      log: silentLog,
      signal: stopping.signal,
      onHead: () => {
        heads += 1
      },
      silentMs: 1_500,
    })
    await systemClock.sleep(500)
    await world.anvil.client.mine({ blocks: 1 })
    await systemClock.sleep(200)
    expect(heads).toBe(2)
    line.silence()
    const opened = line.state.opened
    await world.anvil.client.mine({ blocks: 1 })
    for (let tries = 0; line.state.opened === opened && tries < 400; tries++) await systemClock.sleep(20)
    await systemClock.sleep(500)
    await world.anvil.client.mine({ blocks: 1 })
    await systemClock.sleep(300)
    expect(heads).toBeGreaterThanOrEqual(4)
    stopping.abort()
    await following
  }, 60_000)

  it.each([
    ['over WebSocket', true, 60_000],
    ['by polling', false, 200],
  ] as const)(
    'are followed %s after the node was away and came back',
    async (_how, ws, pollIntervalMs) => {
      const running = follow({ pollIntervalMs, ws })
      await systemClock.sleep(500)
      await depositAndSee()
      line.state.refuses = true
      line.cut()
      await world.deposit(alice, 99n, 'Y2Zi7KWy')
      await systemClock.sleep(1_500)
      line.state.refuses = false
      expect(await seen()).toBeLessThan(20_000)
      await systemClock.sleep(500)
      expect(await depositAndSee()).toBeLessThan(20_000)
      await running.stop()
    },
    60_000,
  )
})
