import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import type { Fault } from '../../test/chain/badNode.js'
import { type FaultWorld, only, openFaultWorld } from '../../test/chain/faultWorld.js'
import { chainId } from '../../test/chain/watchWorld.js'
import { seededRandom } from '../../test/seed.js'
import { computeStateHash } from './stateHash.js'
import type { Log } from '../kernel/log.js'
import { openDatabase } from '../postgres/pool.js'

let fault: FaultWorld
let earn: FaultWorld['earn']
let world: FaultWorld['world']
let alice: FaultWorld['alice']
let bob: FaultWorld['bob']
const D = 'Y2Zi7KWy'
/** A node that hangs is given up after so long. */
const patienceMs = 400

beforeAll(async () => {
  fault = await openFaultWorld()
  ;({ earn, world, alice, bob } = fault)
  await world.deposit(alice, 5_000_000n, D)
})
afterEach(() => fault.stopNodes())
afterAll(() => fault?.close())

const badNode = (wrong?: Fault) => fault.badNode(wrong)
const caughtUp = () => fault.caughtUp()
const chainOver = (rpcUrls: readonly string[]) => fault.chainOver(rpcUrls, patienceMs)
const watching: FaultWorld['watching'] = (...input) => fault.watching(...input)

/** The ledger holds every deposit with our code exactly once, and a rebuild gives the same. */
async function assertWhole(): Promise<void> {
  const [made] = await earn.db<{ entries: number; deposits: number }[]>`
    select (select count(*)::int from interactions where chain_id = ${chainId}) as entries,
      (select count(*)::int from (select distinct transaction_hash from interactions where chain_id = ${chainId}) t) as deposits`
  expect(made).toEqual({ entries: deposits, deposits })
  await fault.expectRebuilt()
}
let deposits = 1
async function act(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await world.deposit(turn % 2 === 0 ? alice : bob, BigInt(1_000 + deposits), D)
    deposits += 1
    await world.transfer(alice, bob.address, 3n)
  }
}

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
    async (_name, wrong) => {
      const node = await badNode()
      await watching(chainOver([node.url]), async () => {
        await caughtUp()
        node.state.fault = wrong
        await act()
        await until('two faults', () => node.state.faults >= 2)
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
      await until('looks at it', () => node.state.faults >= 3)
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
    async (_name, wrong) => {
      const [first, second] = [await badNode(wrong), await badNode()]
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
      await until('a second read', async () => (second.calls.get('eth_getBlockByNumber') ?? 0) > 0)
      await until('a reason', async () => (await fault.cursor())?.reason?.includes('disagree') === true)
    })
    expect((await fault.cursor())?.blockNumber).toBe(height)
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
      await until('the reorganisation', async () => {
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
        await until('the word', () => said.length >= 2)
        await caughtUp()
      },
      { log: listening },
    )
    await heal()
    expect(said[0]).toMatch(/no room left on its disk/)
    await assertWhole()
  }, 40_000)

  it('ends every connection in the middle loses nothing and doubles nothing', async () => {
    const db = openDatabase(earn.target, { name: 'watching' })
    const random = seededRandom()
    const work = async () => {
      for (let round = 0; round < 6; round++) {
        const acting = act()
        // In the middle of what it writes of them.
        const from = await fault.head()
        const blocks = random.int(1, 4)
        await until('some blocks', async () => (await fault.head()) >= from + blocks)
        await earn.db`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'watching'`
        await acting
      }
      await caughtUp()
    }
    await watching(chainOver([world.anvil.url]), work, { db })
    await db.end({ timeout: 1 })
    await assertWhole()
  }, 60_000)
})
