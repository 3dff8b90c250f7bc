import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { until } from '../../../contracts/test/until.js'
import { startLine } from '../../test/chain/badNode.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { hurriedClock } from '../../test/hurriedClock.js'
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
const clock = hurriedClock(4)
/** Looks so seldom that only the socket can have told of a block. */
const hourMs = 3_600_000

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

/** Follows the chain over the line; a call that gets no answer is given up soon. */
function follow(input: { pollIntervalMs: number; ws?: boolean }) {
  const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
  const rpcUrls = input.ws === false ? [line.url] : [line.url, line.url.replace('http', 'ws')]
  const { fetchText } = createOutbound(clock)
  const outbound: Parameters<typeof openChain>[0] = { fetchText: (asked) => fetchText({ ...asked, timeoutMs: 1_000 }) }
  const chain = openChain(outbound, { ...own, pollIntervalMs: input.pollIntervalMs, rpcUrls })
  return startWatching({ ...earn.ctx, clock, chains: new Map([[chainId, chain]]) })
}

/** Until what is at the head now is derived. */
async function seen(): Promise<void> {
  const head = Number(await world.anvil.client.getBlockNumber())
  await until(`block ${head}`, async () => ((await findCursor(earn.db, chainId))?.blockNumber ?? -1) >= head)
}

/** Deposits one after the other, each once the one before is derived. */
async function depositAndSee(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    await world.deposit(alice, 1_234n, 'Y2Zi7KWy')
    await seen()
  }
}

describe('heads over WebSocket', () => {
  it('are announced again after the node closed the socket, and what came in between is not waited for', async () => {
    const running = follow({ pollIntervalMs: hourMs })
    // The first look may find one, the opened socket another: the third was announced.
    await depositAndSee(3)
    line.cut()
    // Nobody announces this one: the new connection looks for itself.
    await depositAndSee(1)
    await depositAndSee(2)
    await running.stop()
  }, 60_000)

  it('are found by polling while the socket is silent', async () => {
    const running = follow({ pollIntervalMs: 800 })
    await depositAndSee(1)
    line.silence()
    // What was on its way over the silenced line is lost; the call is made again on a new one.
    await depositAndSee(2)
    await running.stop()
  }, 60_000)

  it('are announced again after a socket that fell silent was given up', async () => {
    const stopping = new AbortController()
    let heads = 0
    const following = followHeads({
      urls: [line.url.replace('http', 'ws')],
      clock,
      log: silentLog,
      signal: stopping.signal,
      onHead: () => {
        heads += 1
      },
      silentMs: 4_000,
    })
    await until('the connection', () => heads === 1)
    await world.anvil.client.mine({ blocks: 1 })
    await until('the block to be announced', () => heads === 2)
    line.silence()
    const { opened } = line.state
    await world.anvil.client.mine({ blocks: 1 })
    await until('another connection', () => line.state.opened > opened)
    await until('its own look', () => heads === 3)
    await world.anvil.client.mine({ blocks: 1 })
    await until('the block to be announced', () => heads >= 4)
    stopping.abort()
    await following
  }, 60_000)

  it.each([
    ['over WebSocket', true, hourMs],
    ['by polling', false, 800],
  ] as const)(
    'are followed %s after the node was away and came back',
    async (_how, ws, pollIntervalMs) => {
      const running = follow({ pollIntervalMs, ws })
      await depositAndSee(1)
      line.state.refuses = true
      line.cut()
      await world.deposit(alice, 99n, 'Y2Zi7KWy')
      await until('it to be asked in vain', () => line.state.refused >= 2)
      line.state.refuses = false
      await seen()
      await depositAndSee(3)
      await running.stop()
    },
    60_000,
  )
})
