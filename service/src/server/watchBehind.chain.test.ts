import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { startLateNode } from '../../test/chain/lateNode.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { createPipeline, rewindChain } from '../../test/pipeline.js'
import { createWatcher } from '../../test/sink.js'
import { silentLog } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { openChain } from '../rpc/chains.js'
import { createNode } from '../rpc/node.js'
import { type Cursor, findCursor } from '../sync/storeCursors.js'

let earn: Earn
let world: WatchWorld
let late: Awaited<ReturnType<typeof startLateNode>>
const alice = account(1)
const D = 'Y2Zi7KWy'
const depths = [1, 12, 477]

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  late = await startLateNode(world.anvil.url)
  await world.fund(alice, 1_000_000_000n)
  await follow().rest()
})
beforeEach(async () => {
  late.state.head = Number.POSITIVE_INFINITY
  await world.deposit(alice, 1_000n, D)
  await present()
})
afterAll(async () => {
  await late?.stop()
  await world?.close()
  await earn?.close()
})

/** The clock of the service shows the time of the newest block. */
async function present(): Promise<void> {
  earn.clock.set(new Date(Number((await world.anvil.client.getBlock()).timestamp) * 1_000))
}

/** Follows the chain a turn at a time over these nodes, as a process of its own would. */
function follow(...rpcUrls: string[]) {
  const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
  const chain = openChain(createOutbound(earn.clock), { ...own, rpcUrls: rpcUrls.length ? rpcUrls : [world.anvil.url] })
  const ctx = { db: earn.db, clock: earn.clock, log: silentLog }
  const sink = createPipeline(ctx, { chainId })
  const watcher = createWatcher({ chain, node: createNode(chain.rpc), sink, clock: earn.clock, log: silentLog })
  const turn = () => watcher.step()
  const rest = async () => {
    for (let turns = 0; turns < 200; turns++) if ((await turn()) !== 'progress') return
    throw new Error('the watcher never came to rest')
  }
  return { turn, rest }
}

/** Mines blocks as they come, so that each is followed at the head. */
async function mine(blocks: number, by: { rest(): Promise<void> }, seconds = 1): Promise<void> {
  for (let left = blocks; left > 0; left -= 30) {
    await world.anvil.client.mine({ blocks: Math.min(30, left), interval: seconds })
    await by.rest()
  }
  await present()
}

const status = async () => (await earn.call('GetIndexingStatus', { query: { chainId } })).body
const shown = async () => (await status()).chains[0]
const cursor = async (): Promise<Cursor> => {
  const found = await findCursor(earn.db, chainId)
  if (!found) throw new Error('never watched')
  return found
}
const reorgs = async (): Promise<number> => (await shown()).reorgs24h

describe('a node with our chain whose head falls below what was read', () => {
  it.each(depths)(
    '%i blocks is shown as lag from the first look on, and stalls after a minute',
    async (blocks) => {
      const by = follow(late.url)
      await mine(3, by)
      await mine(blocks, by)
      const tip = (await cursor()).blockNumber
      late.state.head = tip - blocks
      earn.clock.advance(2_000)
      await by.turn()
      const first = await shown()
      expect(first).toMatchObject({ state: 'live', headBlock: tip - blocks, indexedBlock: tip, lagBlocks: blocks })
      expect(first.lagSeconds).toBeGreaterThanOrEqual(2)
      earn.clock.advance(59_000)
      await by.turn()
      expect(await shown()).toMatchObject({ state: 'live', lagBlocks: blocks })
      earn.clock.advance(2_000)
      expect(await by.turn()).toBe('stalled')
      const { chains, vaults } = await status()
      expect(chains[0]).toMatchObject({ state: 'stalled', lagBlocks: blocks })
      expect(chains[0].lagSeconds).toBeGreaterThanOrEqual(63)
      const behind = blocks === 1 ? 'a block' : `${blocks} blocks`
      expect(vaults[0]).toMatchObject({
        state: 'stalled',
        reason: expect.stringContaining(`the node is ${behind} behind block ${tip}, which was read before`),
      })
      // It comes back: all is as before, and nothing was taken back.
      late.state.head = Number.POSITIVE_INFINITY
      await by.turn()
      expect(await shown()).toMatchObject({ state: 'live', headBlock: tip, lagBlocks: 0, lagSeconds: 0, reorgs24h: 0 })
      expect(await cursor()).toMatchObject({ blockNumber: tip, nodeHead: null, tipMissedSince: null })
    },
    60_000,
  )

  it('stalls a chain of slow blocks after ten of them', async () => {
    const by = follow(late.url)
    await mine(120, by, 12)
    const tip = (await cursor()).blockNumber
    late.state.head = tip - 1
    await by.turn()
    earn.clock.advance(110_000)
    await by.turn()
    expect(await shown()).toMatchObject({ state: 'live', lagBlocks: 1 })
    earn.clock.advance(12_000)
    await by.turn()
    expect(await shown()).toMatchObject({ state: 'stalled', lagBlocks: 1 })
  }, 60_000)

  it.each(depths)(
    '%i blocks is left for another url that is not late, and shows no lag',
    async (blocks) => {
      const by = follow(late.url, world.anvil.url)
      await mine(blocks, by)
      const tip = (await cursor()).blockNumber
      late.state.head = tip - blocks
      await by.rest()
      expect(await shown()).toMatchObject({ state: 'live', headBlock: tip, lagBlocks: 0, lagSeconds: 0 })
      await mine(2, by)
      earn.clock.advance(61_000)
      await by.rest()
      expect(await shown()).toMatchObject({ state: 'live', headBlock: tip + 2, indexedBlock: tip + 2, lagBlocks: 0 })
    },
    60_000,
  )
})

describe('a node with another chain whose head is below what was read', () => {
  /**
   * Our chain goes on for so many blocks, and then the node has another one that is not longer; the late node is below both.
   * Returns where they part.
   */
  async function replace(blocks: number, by: { rest(): Promise<void> }, others: number): Promise<number> {
    await mine(3, by)
    const ancestor = (await cursor()).blockNumber
    const id = await world.anvil.client.snapshot()
    await mine(blocks, by)
    late.state.head = ancestor - 1
    await world.anvil.client.revert({ id })
    // Another time makes another block.
    await world.anvil.client.increaseTime({ seconds: 7 })
    await world.anvil.client.mine({ blocks: others, interval: 2 })
    return ancestor
  }

  it.each([
    [1, 1],
    [12, 5],
  ])(
    'taken back, %i blocks, before they are final, by one url',
    async (blocks, others) => {
      const by = follow()
      const before = await reorgs()
      const ancestor = await replace(blocks, by, others)
      await by.rest()
      expect(await shown()).toMatchObject({
        state: 'live',
        headBlock: ancestor + others,
        indexedBlock: ancestor + others,
      })
      expect(await shown()).toMatchObject({ lagBlocks: 0, lagSeconds: 0, reorgs24h: before + 1 })
    },
    60_000,
  )

  it.each([
    [1, 1],
    [12, 5],
  ])(
    'taken back, %i blocks, while another url is late',
    async (blocks, others) => {
      const by = follow(late.url, world.anvil.url)
      const before = await reorgs()
      const ancestor = await replace(blocks, by, others)
      await by.rest()
      expect(await shown()).toMatchObject({
        state: 'live',
        headBlock: ancestor + others,
        indexedBlock: ancestor + others,
      })
      expect(await shown()).toMatchObject({ lagBlocks: 0, reorgs24h: before + 1 })
    },
    60_000,
  )

  it.each([
    ['one url', () => follow()],
    ['two urls, one of them late', () => follow(late.url, world.anvil.url)],
  ] as const)(
    'past finality stalls, 477 blocks, %s, with the whole command, also if it never passes what was read',
    async (_urls, open) => {
      const by = open()
      const before = await reorgs()
      const ancestor = await replace(477, by, 21)
      const tip = (await cursor()).blockNumber
      const reason = `the node replaced final blocks above ${ancestor}; check it, then run: openearn chains rewind ${chainId} --to ${ancestor}`
      for (let turns = 0; turns < 5; turns++) {
        await by.rest()
        const head = ancestor + 21 + turns
        const { chains, vaults } = await status()
        expect(chains[0]).toMatchObject({ state: 'stalled', headBlock: head, indexedBlock: tip, lagBlocks: tip - head })
        expect(vaults[0]).toMatchObject({ state: 'stalled', reason: expect.stringContaining(reason) })
        await world.anvil.client.mine({ blocks: 1 })
        earn.clock.advance(30_000)
      }
      expect(await reorgs()).toBe(before)
      const ctx = { db: earn.db, clock: earn.clock, log: silentLog }
      await rewindChain(ctx, { chainId, to: ancestor })
      await by.rest()
      expect(await shown()).toMatchObject({
        state: 'live',
        indexedBlock: ancestor + 26,
        lagBlocks: 0,
        reorgs24h: before + 1,
      })
    },
    90_000,
  )
})
