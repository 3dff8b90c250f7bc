import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { type Fault, startBadNode } from '../../test/chain/badNode.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { computeStateHash } from '../features/audit/index.js'
import { systemClock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { createOutbound } from '../kernel/outbound.js'
import { rebuildChain } from '../pipeline/index.js'
import { openDatabase } from '../postgres/pool.js'
import { type Chain, openChain } from '../rpc/chains.js'
import { findCursor } from '../sync/storeCursors.js'
import { startWatching } from './watch.js'

let earn: Earn
let world: WatchWorld
const bad: Awaited<ReturnType<typeof startBadNode>>[] = []
const [alice, bob] = [account(1), account(2)]
const D = 'Y2Zi7KWy'

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  for (const user of [alice, bob]) await world.fund(user, 1_000_000_000n)
  await world.deposit(alice, 5_000_000n, D)
})
afterEach(async () => {
  for (const node of bad.splice(0)) await node.stop()
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

/** The chain over these urls, with patience for tests. */
function chainOver(rpcUrls: readonly string[], settings: Partial<Chain> = {}): Chain {
  const outbound = createOutbound(systemClock)
  const impatient = {
    fetchText: (request: Parameters<typeof outbound.fetchText>[0]) =>
      outbound.fetchText({ ...request, timeoutMs: 400, retries: 0 }),
  }
  const { rpc: _rpc, headUrls: _headUrls, ...own } = world.chain
  return openChain(impatient, { ...own, ...settings, rpcUrls })
}

async function badNode(fault?: Fault) {
  const node = await startBadNode(world.anvil.url)
  node.state.fault = fault
  bad.push(node)
  return node
}

/** Follows the chain while `work` runs. */
async function watching(chain: Chain, work: () => Promise<void>, log: Log = earn.ctx.log): Promise<void> {
  const running = startWatching({ ...earn.ctx, log, clock: systemClock, chains: new Map([[chainId, chain]]) })
  try {
    await work()
  } finally {
    await running.stop()
  }
}

async function waitFor(what: string, isSo: () => Promise<boolean>, ms = 20_000): Promise<void> {
  for (const started = systemClock.monotonicMs(); !(await isSo()); await systemClock.sleep(25))
    if (systemClock.monotonicMs() - started > ms) throw new Error(`never: ${what}`)
}

async function caughtUp(): Promise<void> {
  const head = Number(await world.anvil.client.getBlockNumber())
  await waitFor(`block ${head}`, async () => ((await findCursor(earn.db, chainId))?.blockNumber ?? -1) >= head)
}

/** The ledger holds every deposit with our code exactly once, and a rebuild gives the same. */
async function assertWhole(): Promise<void> {
  const [made] = await earn.db<{ entries: number; deposits: number }[]>`
    select (select count(*)::int from interactions where chain_id = ${chainId}) as entries,
      (select count(*)::int from (select distinct transaction_hash from interactions where chain_id = ${chainId}) t) as deposits`
  expect(made).toEqual({ entries: deposits, deposits })
  const hash = await computeStateHash(earn.db, chainId)
  expect((await rebuildChain({ db: earn.db, clock: systemClock }, { chainId })).hash).toBe(hash)
}
let deposits = 1
async function act(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await world.deposit(turn % 2 === 0 ? alice : bob, BigInt(1_000 + deposits), D)
    deposits += 1
    await world.transfer(alice, bob.address, 3n)
  }
}

const only =
  (methods: readonly string[], wrong: Fault): Fault =>
  (call, truth) =>
    methods.includes(call.method) ? wrong(call, truth) : undefined
const error =
  (code: number, message: string): Fault =>
  (call) => ({ id: call.id, error: { code, message } })
const emptied: Fault = (_call, truth) => ({ ...truth, result: [] })

describe('a watcher whose only node', () => {
  const faults: [string, Fault][] = [
    ['does not answer in time', () => 'hang'],
    ['answers 429 with Retry-After', () => ({ status: 429, headers: { 'retry-after': '1' }, body: '' })],
    ['answers 429 without Retry-After', () => ({ status: 429, body: '' })],
    ['answers 502', () => ({ status: 502, body: 'Bad Gateway' })],
    ['cuts its JSON short', (_call, truth) => ({ body: JSON.stringify(truth).slice(0, -9) })],
    ['gives no logs of a block that has some', only(['eth_getLogs'], emptied)],
    ['gives receipts without their logs', only(['eth_getBlockReceipts'], emptied)],
    [
      'tells of a head that goes backwards',
      (call, truth) =>
        call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest'
          ? { ...truth, result: { ...(truth.result as object), number: '0x1' } }
          : undefined,
    ],
    [
      'does not know the block by its hash',
      only(['eth_getLogs', 'eth_getBlockReceipts'], error(-32000, 'unknown block')),
    ],
    ['knows no block at all', only(['eth_getBlockByNumber'], (_call, truth) => ({ ...truth, result: null }))],
    [
      'places a transaction in another block',
      only(['eth_getTransactionByHash'], (_call, truth) => ({
        ...truth,
        result: { ...(truth.result as object), blockNumber: '0x1' },
      })),
    ],
  ]
  it.each(faults)(
    '%s goes on when that is over: nothing lost, doubled or invented',
    async (_name, fault) => {
      const node = await badNode()
      await watching(chainOver([node.url]), async () => {
        await caughtUp()
        node.state.fault = fault
        await act()
        await waitFor('a fault', async () => node.state.faults >= 2)
        node.state.fault = undefined
        await caughtUp()
      })
      await assertWhole()
    },
    40_000,
  )

  it('refuses ranges beyond a limit is read in smaller ones', async () => {
    await world.anvil.client.mine({ blocks: 200 })
    await act()
    await world.anvil.client.mine({ blocks: 200 })
    const ranges: number[] = []
    const node = await badNode((call) => {
      if (call.method !== 'eth_getLogs') return undefined
      const { fromBlock, toBlock } = call.params[0] as { fromBlock?: string; toBlock?: string }
      if (fromBlock === undefined) return undefined
      const range = Number(toBlock) - Number(fromBlock) + 1
      if (range > 50) return { id: call.id, error: { code: -32005, message: 'query exceeds max block range 50' } }
      ranges.push(range)
      return undefined
    })
    await watching(chainOver([node.url]), caughtUp)
    expect(ranges.length).toBeGreaterThan(3)
    expect(Math.max(...ranges)).toBeLessThanOrEqual(50)
    await assertWhole()
  }, 40_000)

  it('refuses ranges by status alone is read in smaller ones', async () => {
    await world.anvil.client.mine({ blocks: 200 })
    await act()
    await world.anvil.client.mine({ blocks: 100 })
    const node = await badNode((call) => {
      const { fromBlock, toBlock } = (call.params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      if (call.method !== 'eth_getLogs' || fromBlock === undefined) return undefined
      return Number(toBlock) - Number(fromBlock) > 9 ? { status: 400, body: '{"error":"range"}' } : undefined
    })
    await watching(chainOver([node.url]), caughtUp)
    expect(node.state.faults).toBeGreaterThan(0)
    await assertWhole()
  }, 40_000)

  it('serves another chain from the start derives nothing from it', async () => {
    const before = await computeStateHash(earn.db, chainId)
    const stranger = only(['eth_chainId'], (call) => ({ id: call.id, result: '0x1' }))
    const node = await badNode(stranger)
    await watching(chainOver([node.url]), async () => {
      await act()
      await waitFor('a look', async () => node.state.faults >= 1)
      await systemClock.sleep(500)
    })
    expect([...node.calls.keys()]).toEqual(['eth_chainId'])
    expect(await computeStateHash(earn.db, chainId)).toBe(before)
    await watching(chainOver([world.anvil.url]), caughtUp)
    await assertWhole()
  }, 40_000)
})

describe('a watcher with several nodes', () => {
  it('goes on with the second while the first is down, and asks the first seldom', async () => {
    const [first, second] = [await badNode(() => ({ status: 503, body: '' })), await badNode()]
    await watching(chainOver([first.url, second.url]), async () => {
      await act()
      await caughtUp()
    })
    const asked = (node: typeof first) => [...node.calls.values()].reduce((sum, count) => sum + count, 0)
    expect(asked(first)).toBeLessThan(asked(second) / 4)
    await assertWhole()
  }, 40_000)

  it.each([
    ['gives no logs of blocks that have some', only(['eth_getLogs'], emptied)],
    ['knows no block by its hash', only(['eth_getLogs', 'eth_getBlockReceipts'], error(-32000, 'unknown block'))],
    ['knows no transaction', only(['eth_getTransactionByHash'], (_call, truth) => ({ ...truth, result: null }))],
  ] as [string, Fault][])(
    'leaves the first when it %s, for good',
    async (_name, fault) => {
      const [first, second] = [await badNode(fault), await badNode()]
      await watching(chainOver([first.url, second.url]), async () => {
        await act()
        await caughtUp()
        const asked = first.state.faults
        await act()
        await caughtUp()
        expect(first.state.faults).toBe(asked)
      })
      await assertWhole()
    },
    40_000,
  )

  it('asks another one before it takes back confirmed blocks, and takes nothing back when that one disagrees', async () => {
    await watching(chainOver([world.anvil.url]), caughtUp)
    const before = await computeStateHash(earn.db, chainId)
    const height = Number(await world.anvil.client.getBlockNumber())
    // The first node tells another top block; the second stays with the truth.
    const forked: Fault = (call, truth) => {
      const at = call.method === 'eth_getBlockByNumber' ? call.params[0] : undefined
      if (at !== 'latest' && at !== `0x${height.toString(16)}`) return undefined
      return { ...truth, result: { ...(truth.result as object), hash: `0x${'ab'.repeat(32)}` } }
    }
    const [first, second] = [await badNode(forked), await badNode()]
    await watching(chainOver([first.url, second.url]), async () => {
      await waitFor('a second read', async () => (second.calls.get('eth_getBlockByNumber') ?? 0) > 0)
      await waitFor('a reason', async () => (await findCursor(earn.db, chainId))?.reason?.includes('disagree') === true)
    })
    expect((await findCursor(earn.db, chainId))?.blockNumber).toBe(height)
    expect(await computeStateHash(earn.db, chainId)).toBe(before)
    const [reorgs] = await earn.db`select count(*)::int as count from chain_reorgs where chain_id = ${chainId}`
    expect(reorgs).toEqual({ count: 0 })
  }, 40_000)

  it('takes back what both say is gone', async () => {
    const gone = await world.deposit(alice, 77_000n, D)
    const [first, second] = [await badNode(), await badNode()]
    await watching(chainOver([first.url, second.url]), async () => {
      await caughtUp()
      await world.anvil.client.request({ method: 'anvil_reorg', params: [1, []] } as never)
      await waitFor('the reorganisation', async () => {
        const rows = await earn.db`select from interactions where transaction_hash = ${gone}`
        return rows.length === 0
      })
      await caughtUp()
    })
    expect(second.calls.get('eth_getBlockByNumber') ?? 0).toBeGreaterThan(0)
    await assertWhole()
  }, 40_000)
})

describe('a watcher whose database', () => {
  /** Makes the next `times` writes of blocks fail with a SQLSTATE. */
  const failing = async (state: string, times: number) => {
    await earn.db.unsafe(`create sequence fault_count;
      create function fault() returns trigger language plpgsql as $$ begin
        if nextval('fault_count') <= ${times} then raise exception 'as told' using errcode = '${state}'; end if;
        return new; end $$;
      create trigger fault before insert on blocks for each statement execute function fault()`)
    return async () => {
      const [row] = await earn.db<{ used: number }[]>`select last_value::int as used from fault_count`
      await earn.db.unsafe('drop trigger fault on blocks; drop function fault(); drop sequence fault_count')
      return row?.used ?? 0
    }
  }

  it('reports serialization failures writes each block once, on another try', async () => {
    const heal = await failing('40001', 3)
    await watching(chainOver([world.anvil.url]), async () => {
      await act()
      await caughtUp()
    })
    expect(await heal()).toBeGreaterThan(3)
    await assertWhole()
  }, 40_000)

  it('has no room on its disk stops clean, says so, and goes on when there is room', async () => {
    const said: string[] = []
    const log = { ...earn.ctx.log, error: (_at: unknown, text: string) => void said.push(text) }
    const heal = await failing('53100', 3)
    const listening = { ...log, child: () => listening } as unknown as Log
    await watching(
      chainOver([world.anvil.url]),
      async () => {
        await act()
        await waitFor('the word', async () => said.length >= 2)
        await caughtUp()
      },
      listening,
    )
    await heal()
    expect(said[0]).toMatch(/no room left on its disk/)
    await assertWhole()
  }, 40_000)

  it('ends every connection in the middle loses nothing and doubles nothing', async () => {
    const db = openDatabase(earn.target, { name: 'watching' })
    const chains = new Map([[chainId, chainOver([world.anvil.url])]])
    const running = startWatching({ ...earn.ctx, db, clock: systemClock, chains })
    for (let round = 0; round < 6; round++) {
      const acting = act()
      await systemClock.sleep(30 + round * 15)
      await earn.db`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'watching'`
      await acting
    }
    await caughtUp()
    await running.stop()
    await db.end({ timeout: 1 })
    await assertWhole()
  }, 60_000)
})
