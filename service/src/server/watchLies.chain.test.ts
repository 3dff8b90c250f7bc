import { type Hex, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import type { Fault } from '../../test/chain/badNode.js'
import { type FaultWorld, only, openFaultWorld } from '../../test/chain/faultWorld.js'
import { chainId } from '../../test/chain/watchWorld.js'
import { seededRandom } from '../../test/seed.js'
import { computeStateHash } from './stateHash.js'
import type { Chain } from '../rpc/chains.js'

let fault: FaultWorld
let earn: FaultWorld['earn']
let world: FaultWorld['world']
let alice: FaultWorld['alice']
let bob: FaultWorld['bob']
const D = 'Y2Zi7KWy'
const transfer = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const deposit = parseAbi([
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
])

beforeAll(async () => {
  fault = await openFaultWorld()
  ;({ earn, world, alice, bob } = fault)
  await world.sync()
})
afterEach(() => fault.stopNodes())
afterAll(() => fault?.close())

const badNode = (wrong?: Fault) => fault.badNode(wrong)
const chainOver = (rpcUrls: readonly string[]) => fault.chainOver(rpcUrls)
const watching = (chain: Chain, work: () => Promise<void>) =>
  fault.watching(chain, work, { calmMs: 1_200, pace: { finalMs: 0, againMs: 0, againBlocks: 0 } })
const cursor = () => fault.cursor()

/** At the head, and everything final looked at twice. */
async function passed(): Promise<void> {
  const head = Number(await world.anvil.client.getBlockNumber())
  await until(`block ${head} and a second look`, async () => {
    const { blockNumber, checkedTo } = await cursor()
    return blockNumber >= head && checkedTo >= head - 64
  })
}

/** Deposits with our code and transfers, and enough blocks behind them that all of it is final. */
async function act(rounds = 12): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await world.deposit(round % 2 === 0 ? alice : bob, BigInt(1_000 + round), D)
    await world.transfer(alice, bob.address, 3n)
  }
  await world.anvil.client.mine({ blocks: 120 })
}

/** Counts entries and balances from the chain alone and compares them with the tables. */
async function findMissing(): Promise<{ entries: number; balances: number }> {
  const { client } = world.anvil
  const range = { address: world.vault, fromBlock: 0n, toBlock: 'latest' } as const
  const made = await client.getLogs({ ...range, event: deposit[0] })
  const moves = await client.getLogs({ ...range, event: transfer[0] })
  const entries = await earn.db<{ hash: string; logIndex: number }[]>`
    select transaction_hash as hash, log_index as "logIndex" from interactions where chain_id = ${chainId}`
  const known = new Set(entries.map(({ hash, logIndex }) => `${hash}:${logIndex}`))
  const balances = new Map<string, bigint>()
  const add = (wallet: Hex | undefined, amount: bigint) => {
    const key = wallet?.toLowerCase() ?? ''
    balances.set(key, (balances.get(key) ?? 0n) + amount)
  }
  for (const { args } of moves) {
    add(args.from, -(args.value ?? 0n))
    add(args.to, args.value ?? 0n)
  }
  balances.delete(`0x${'0'.repeat(40)}`)
  const kept = await earn.db<
    { wallet: string; shares: string }[]
  >`select hex_text(wallet) as wallet, shares from balances`
  const shares = new Map(kept.map((row) => [row.wallet, BigInt(row.shares)]))
  return {
    entries: made.filter((log) => !known.has(`${log.transactionHash}:${log.logIndex}`)).length,
    balances: [...balances].filter(([wallet, amount]) => (shares.get(wallet) ?? 0n) !== amount).length,
  }
}

async function assertWhole(): Promise<void> {
  expect(await findMissing()).toEqual({ entries: 0, balances: 0 })
  await fault.expectRebuilt()
}

type Said = { transactionHash: Hex; logIndex: Hex }
/** Leaves out the logs that `isGone` says, of lists of logs and, when told, of receipts in the same way. */
const without =
  (isGone: (log: Said) => boolean, how: { receipts: boolean }): Fault =>
  (call, truth) => {
    if (!Array.isArray(truth.result)) return undefined
    if (call.method === 'eth_getLogs') return { ...truth, result: truth.result.filter((log: Said) => !isGone(log)) }
    if (call.method !== 'eth_getBlockReceipts' || !how.receipts) return undefined
    const receipts = truth.result as { logs: Said[] }[]
    return { ...truth, result: receipts.map((each) => ({ ...each, logs: each.logs.filter((log) => !isGone(log)) })) }
  }
/** The same half each time. */
const half = ({ transactionHash, logIndex }: Said) =>
  (Number.parseInt(transactionHash.slice(-2), 16) + Number(logIndex)) % 2 === 0
const all = () => true
const random = seededRandom()

describe('a node that lies for a while', () => {
  it.each([
    ['leaves half of all logs out of its lists', without(half, { receipts: false })],
    ['leaves half of all logs out of its lists and receipts alike', without(half, { receipts: true })],
    ['leaves another half out each time', without(() => random.chance(0.5), { receipts: true })],
    ['leaves all logs out of its lists', without(all, { receipts: false })],
    ['leaves all logs out of its lists and receipts', without(all, { receipts: true })],
  ] as [string, Fault][])(
    '%s: after the next pass at finality 0 entries and 0 balances are missing, at the head and where a pause made a range of it',
    async (_name, lie) => {
      const node = await badNode()
      await watching(chainOver([node.url]), passed)
      // Nobody watches meanwhile: a range.
      await act()
      node.state.fault = lie
      await watching(chainOver([node.url]), async () => {
        await until('lies', () => node.state.faults >= 2)
        await act(4)
        await until('more lies', () => node.state.faults >= 4)
        node.state.fault = undefined
        await passed()
      })
      await assertWhole()
    },
    90_000,
  )

  it('leaves out at the head what fits the bloom all the same: the look at finality finds and repairs it', async () => {
    const { client } = world.anvil
    const hidden = new Set<string>()
    const node = await badNode(without(({ transactionHash }) => hidden.has(transactionHash), { receipts: true }))
    await watching(chainOver([node.url]), async () => {
      await passed()
      // Twice the same in one block: the second adds nothing to the bloom.
      await client.setAutomine(false)
      const send = (nonce: number) =>
        client.sendTransaction({
          account: alice,
          to: world.vault,
          data: world.depositData(alice, 7_777n, D),
          gas: 1_000_000n,
          nonce,
        })
      const nonce = await client.getTransactionCount({ address: alice.address })
      await send(nonce)
      hidden.add(await send(nonce + 1))
      await client.mine({ blocks: 1 })
      await client.setAutomine(true)
      const head = Number(await client.getBlockNumber())
      await until('the block', async () => (await cursor()).blockNumber >= head)
      expect(await findMissing()).toEqual({ entries: 1, balances: 1 })
      node.state.fault = undefined
      await client.mine({ blocks: 80 })
      await passed()
    })
    await assertWhole()
  }, 60_000)

  it('leaves out of a range what fits the bloom all the same: the look after it finds and repairs it', async () => {
    const { client } = world.anvil
    await client.setAutomine(false)
    const nonce = await client.getTransactionCount({ address: alice.address })
    const hidden = new Set<string>()
    for (const at of [nonce, nonce + 1])
      hidden.add(
        await client.sendTransaction({
          account: alice,
          to: world.vault,
          data: world.depositData(alice, 9_999n, D),
          gas: 1_000_000n,
          nonce: at,
        }),
      )
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
    const [kept] = hidden
    hidden.delete(kept ?? '')
    await client.mine({ blocks: 200 })
    const node = await badNode(without(({ transactionHash }) => hidden.has(transactionHash), { receipts: true }))
    await watching(chainOver([node.url]), async () => {
      const head = Number(await client.getBlockNumber())
      await until('the head', async () => (await cursor()).blockNumber >= head)
      node.state.fault = undefined
      await passed()
    })
    await assertWhole()
  }, 60_000)
})

describe('a node that begins to serve another chain', () => {
  const stranger = only(['eth_chainId'], (call) => ({ id: call.id, result: '0x1' }))
  /** As another chain would answer: blocks of the same heights with other hashes. */
  const other: Fault = (call, truth) => {
    if (call.method !== 'eth_getBlockByNumber' || truth.result === null) return stranger(call, truth)
    const result = truth.result as { hash: Hex; parentHash: Hex }
    const turned = (hash: Hex) => `0x${[...hash.slice(2)].reverse().join('')}`
    return { ...truth, result: { ...result, hash: turned(result.hash), parentHash: turned(result.parentHash) } }
  }

  it('is not believed: the chain is stalled with a reason, nothing is taken back, and it goes on when that is over', async () => {
    const node = await badNode()
    await watching(chainOver([node.url]), async () => {
      await passed()
      const before = await computeStateHash(earn.db, chainId)
      node.state.fault = other
      await act(2)
      await until('the stall', async () => (await cursor()).state === 'stalled')
      expect((await cursor()).reason).toMatch(/no RPC url that answers serves this chain/)
      expect(await computeStateHash(earn.db, chainId)).toBe(before)
      node.state.fault = undefined
      await passed()
      expect(await cursor()).toMatchObject({ state: 'live', reason: null })
    })
    const [reorgs] = await earn.db`select count(*)::int as count from chain_reorgs where chain_id = ${chainId}`
    expect(reorgs).toEqual({ count: 0 })
    await assertWhole()
  }, 90_000)

  it('is left for another url', async () => {
    const [first, second] = [await badNode(), await badNode()]
    await watching(chainOver([first.url, second.url]), async () => {
      await passed()
      first.state.fault = other
      await act(2)
      await passed()
      expect((await cursor()).state).toBe('live')
    })
    expect(second.calls.get('eth_getLogs') ?? 0).toBeGreaterThan(0)
    await assertWhole()
  }, 60_000)
})
