import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import {
  createSnapshotChain,
  type ModelBlock,
  type SnapshotChain,
  snapshotContext,
} from '../../../test/snapshotChain.js'
import { inTransaction } from '../../postgres/pool.js'
import { RpcError } from '../../rpc/rpc.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { runShareReadings } from './jobReadings.js'
import { readPaidPrices } from './paidSteps.js'
import { readingObservations, recordAwaited } from './storeReadings.js'

const chainId = 31_337
const start = 1_700_000_000
const vault = `0x${'aa'.repeat(20)}`
const whole = 10n ** 18n

let test: TestDatabase
let model: SnapshotChain
let vaultId: number
let asked: string[]

beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

beforeEach(async () => {
  await test.db`truncate chains, vaults, vault_snapshots, share_mints, share_readings, share_reading_gaps,
    share_reading_progress, price_observations cascade`
  await test.db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'C', 'c', true)`
  const [row] = await test.db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (${chainId}, ${vault}, 'erc4626', '0xdd', 6, ${vault}, 6) returning id`
  vaultId = row?.id ?? 0
  model = createSnapshotChain()
  // The price of a share is the number of the block.
  model.vaultAt = (_, { number }) => ({
    ...{ totalAssets: 1n, totalSupply: 1n, perShare: (shares) => shares * BigInt(number) },
  })
  asked = []
  const { request } = model.chain.rpc
  model.chain.rpc.request = async (each) => {
    const [, block] = each.params as [unknown, { blockHash?: string } | undefined]
    if (each.method === 'eth_call') asked.push(block?.blockHash ?? 'latest')
    return request(each)
  }
  for (let block = 0; block < 40; block++) model.mine(start + block)
})

const ctx = () => snapshotContext(model, test.db)
const run = () => runShareReadings(ctx(), { runMs: 600_000 })
const blockOf = (number: number): ModelBlock => model.blocks[number] as ModelBlock

async function snapshot(number: number, totalSupply: bigint, price = 100n): Promise<void> {
  const figures = { totalAssets: 1n, totalSupply, priceNumerator: price * whole, priceExponent: 18 }
  await recordSnapshots(test.db, [{ chainId, vaultAddress: vault, block: blockOf(number), figures }])
}

async function mint(number: number, shares: bigint, assets: bigint | null = null): Promise<void> {
  const { hash, timestamp } = blockOf(number)
  await test.db`
    insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash,
      shares, assets)
    values (${chainId}, ${number}, to_timestamp(${timestamp}), ${vaultId}, 0, hex_bytes(${hash}), hex_bytes(${hash}),
      ${String(shares)}, ${assets === null ? null : String(assets)})`
}

const listRead = async () =>
  (
    await test.db<{ number: number; price: string }[]>`
      select block_number as number, (price_numerator / 10 ^ price_exponent)::int::text as price
      from share_readings order by block_number`
  ).map(({ number, price }) => [number, Number(price)])

const paid = () =>
  readPaidPrices(test.db, {
    ...{ vaultId, from: new Date(start * 1_000), to: new Date((start + 39) * 1_000), skipsDust: false },
  })

describe('share prices where shares are minted that name none', () => {
  it('are read at the hash of each block that passes a thousandth of the supply, and at no other', async () => {
    await snapshot(5, 1_000_000n)
    await mint(4, 500_000n)
    await mint(6, 1_000n)
    await mint(7, 900_000n, 900_000n)
    await mint(8, 1n)
    await mint(9, 1_000n)
    await mint(10, 1n)
    await run()
    expect(await listRead()).toEqual([
      [8, 8],
      [10, 10],
    ])
    expect(new Set(asked)).toEqual(new Set([blockOf(8).hash, blockOf(10).hash]))
    const { steps, awaited } = await paid()
    expect(
      steps.map(({ blockNumber, numerator, origin }) => [blockNumber, numerator / whole, origin.blockHash]),
    ).toEqual([
      [5, 100n, blockOf(5).hash],
      [7, 1n, blockOf(7).hash],
    ])
    expect(awaited).toEqual([])
  })

  it('lower what is paid by, and are read once: the next run goes on with the mints since', async () => {
    await snapshot(5, 10n, 20n)
    await mint(6, 10n)
    await run()
    const before = asked.length
    await run()
    expect(asked.length).toBe(before)
    await mint(12, 10n)
    expect((await paid()).awaited).toEqual([12])
    await run()
    expect(await listRead()).toEqual([
      [6, 6],
      [12, 12],
    ])
    expect((await paid()).steps.map(({ numerator }) => numerator / whole)).toEqual([20n, 6n])
  })

  it('are read where a snapshot of the past came between mints looked at before, once that is noted', async () => {
    await snapshot(5, 1_000_000n)
    await mint(8, 1_000n)
    await snapshot(10, 1_000_000n)
    await mint(12, 1_000n)
    await run()
    await snapshot(7, 10n)
    await run()
    const { awaited } = await paid()
    expect([awaited, await listRead()]).toEqual([[8], []])
    await recordAwaited(test.db, vaultId, awaited)
    await run()
    expect(await listRead()).toEqual([[8, 8]])
    expect((await paid()).awaited).toEqual([])
  })

  it('are read anew where a snapshot comes late, after its mints were looked at', async () => {
    await snapshot(5, 1_000_000n)
    await mint(8, 1_000n)
    await run()
    expect(await listRead()).toEqual([])
    await snapshot(7, 10n)
    expect((await paid()).awaited).toEqual([8])
    await run()
    expect(await listRead()).toEqual([[8, 8]])
  })

  it('that a node cannot give leave the stretch unguarded, and are asked for again after an hour', async () => {
    await snapshot(5, 10n)
    await snapshot(20, 10n)
    await mint(8, 1_000n)
    model.limits.stateFrom = 30
    await run()
    const { steps, awaited } = await paid()
    expect(steps.map(({ blockNumber, isGuarded }) => [blockNumber, isGuarded])).toEqual([
      [5, true],
      [8, false],
      [20, true],
    ])
    expect(awaited).toEqual([])
    model.limits.stateFrom = 0
    await run()
    expect(await listRead()).toEqual([])
    model.mine(start + 3_700)
    await run()
    expect(await listRead()).toEqual([[8, 8]])
    expect((await paid()).steps.every(({ isGuarded }) => isGuarded)).toBe(true)
  })

  it('stay awaited while a node does not answer at all', async () => {
    await snapshot(5, 10n)
    await mint(8, 1_000n)
    const { request } = model.chain.rpc
    model.chain.rpc.request = async () => {
      throw new Error('gone')
    }
    await run()
    expect((await paid()).awaited).toEqual([8])
    model.chain.rpc.request = request
    await run()
    expect(await listRead()).toEqual([[8, 8]])
  })

  it('go with an orphaned block, and are read again on the other branch', async () => {
    await snapshot(5, 10n)
    await mint(8, 1_000n)
    await mint(12, 1_000n)
    await run()
    await inTransaction(test.db, (tx) => readingObservations.rewind(tx, { chainId, number: 10, tip: 39 }))
    expect(await listRead()).toEqual([[8, 8]])
    await run()
    expect(await listRead()).toEqual([
      [8, 8],
      [12, 12],
    ])
  })

  it('of a block refused in the middle of a run lose nothing that was read before', async () => {
    await snapshot(5, 10n)
    for (const number of [8, 9, 10]) await mint(number, 1_000n)
    const { request } = model.chain.rpc
    model.chain.rpc.request = async (each) => {
      const [, block] = each.params as [unknown, { blockHash?: string } | undefined]
      if (block?.blockHash === blockOf(9).hash) throw new RpcError(-32000, 'missing trie node', undefined)
      return request(each)
    }
    await run()
    expect((await listRead()).map(([number]) => number)).toEqual([8, 10])
  })
})
