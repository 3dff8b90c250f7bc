import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { createSnapshotChain, type SnapshotChain, snapshotContext } from '../../test/snapshotChain.js'
import { RpcError } from '../rpc/rpc.js'
import { runHistory } from './jobHistory.js'
import { runSnapshots } from './jobSnapshots.js'
import { listHistoryProgress } from './storeGaps.js'

const start = 1_700_000_100
const step = 900
const first = Math.ceil(start / step) * step
const vaults = ['aa', 'bb'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]

let test: TestDatabase
let model: SnapshotChain
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

beforeEach(async () => {
  await test.db`truncate chains, vaults, vault_snapshots, snapshot_progress, snapshot_gaps, price_observations cascade`
  await test.db`insert into chains (chain_id, name, slug, watched) values (31337, 'C', 'c', true)`
  for (const vault of vaults)
    await test.db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (31337, ${vault}, 'erc4626', '0xdd', 6, ${vault}, 6)`
  model = createSnapshotChain()
  model.vaultAt = (_, block) => ({ totalAssets: BigInt(block.number), totalSupply: 1n, perShare: (shares) => shares })
})

const ctx = () => snapshotContext(model, test.db)

/** Mines every `seconds` until an instant of the grid is past. */
function mineUntil(instants: number, seconds = 300): void {
  const end = first + instants * step + 1
  for (let at = (model.blocks.at(-1)?.timestamp ?? start - seconds) + seconds; at < end; at += seconds) model.mine(at)
  model.mine(end)
}

/** Which instants have a snapshot of the block they should have, by vault; oldest first. */
async function listRead(vault: string): Promise<number[]> {
  const rows = await test.db<{ at: number; number: number; assets: string }[]>`
    select extract(epoch from s.block_timestamp)::bigint as at, s.block_number as number, s.total_assets::text as assets
    from vault_snapshots s join vaults v on v.id = s.vault_id where v.address = ${vault} order by s.block_timestamp`
  return rows.map(({ at, number, assets }) => {
    const instant = Math.ceil(at / step) * step
    expect(number).toBe(model.blocks.findLastIndex(({ timestamp }) => timestamp <= instant))
    expect(assets).toBe(String(number))
    return (instant - first) / step
  })
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const readAll = () => runHistory(ctx(), { runMs: 600_000 })

describe('the past of vaults', () => {
  it('is read behind the first snapshot, down to the first block, and tells how far it is', async () => {
    mineUntil(80)
    await runSnapshots(ctx())
    expect(await listRead(vaults[0])).toEqual([80])
    const [before] = await listHistoryProgress(test.db)
    expect(before).toMatchObject({ chainId: 31_337, vaults: 2, percent: 0, secondsLeft: null, reason: null })
    await runHistory(ctx(), { runMs: 0 })
    const [none] = await listHistoryProgress(test.db)
    expect(none?.unread).toBe(before?.unread)
    await readAll()
    for (const vault of vaults) expect(await listRead(vault)).toEqual(range(0, 80))
    expect(await listHistoryProgress(test.db)).toEqual([])
  })

  it('goes on where it was cut off, and reads no instant again', async () => {
    mineUntil(80)
    await runSnapshots(ctx())
    const { request } = model.chain.rpc
    let left = 30
    model.chain.rpc.request = async (asked) => {
      if (asked.method === 'eth_call' && left-- <= 0) throw new Error('cut off')
      return request(asked)
    }
    await readAll()
    const some = await listRead(vaults[0])
    expect(some.length).toBeLessThan(81)
    expect(some).toEqual(range(81 - some.length, 80))
    model.chain.rpc.request = request
    const before = model.calls.eth_call
    await readAll()
    expect(await listRead(vaults[0])).toEqual(range(0, 80))
    expect(model.calls.eth_call - before).toBeLessThanOrEqual(81 - some.length + 1)
  })

  it('reads a block once, or twice at the end of a batch, where its blocks are four hours apart', async () => {
    mineUntil(160, 16 * step)
    await runSnapshots(ctx())
    const before = model.calls.eth_call
    await readAll()
    expect(await listHistoryProgress(test.db)).toEqual([])
    const [rows] = await test.db<{ blocks: number }[]>`
      select count(distinct block_number)::int as blocks from vault_snapshots`
    expect(rows?.blocks).toBe(11)
    expect(model.calls.eth_call - before).toBeLessThanOrEqual(2 * 11)
  })

  it('that was missed while nobody watched is noted and read later', async () => {
    mineUntil(3)
    await runSnapshots(ctx())
    await readAll()
    mineUntil(20)
    await runSnapshots(ctx())
    expect(await listRead(vaults[0])).toEqual([...range(0, 3), 20])
    await readAll()
    expect(await listRead(vaults[0])).toEqual(range(0, 20))
  })

  it('starts at the first snapshot where the node has no archive, and is read once one has', async () => {
    mineUntil(40)
    await runSnapshots(ctx())
    model.limits.stateFrom = model.blocks.length - 10
    await readAll()
    const some = await listRead(vaults[0])
    expect(some.length).toBeLessThan(6)
    const [stuck] = await listHistoryProgress(test.db)
    expect(stuck?.reason).toMatch(/does not answer for the blocks of then: missing trie node/)
    const before = model.calls.eth_call
    await readAll()
    expect(model.calls.eth_call).toBe(before)
    model.limits.stateFrom = 0
    await test.db`update snapshot_gaps set tried_at = tried_at - interval '2 hours'`
    await readAll()
    expect(await listRead(vaults[0])).toEqual(range(0, 40))
  })

  it('of a vault that is listed later, or began later, is its own', async () => {
    mineUntil(10)
    await test.db`update vaults set start_block = 15 where address = ${vaults[1]}`
    await runSnapshots(ctx())
    await readAll()
    const late = `0x${'cc'.repeat(20)}`
    await test.db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (31337, ${late}, 'erc4626', '0xdd', 6, ${late}, 6)`
    mineUntil(11)
    await runSnapshots(ctx())
    await readAll()
    expect(await listRead(late)).toEqual(range(0, 11))
    expect(await listRead(vaults[0])).toEqual(range(0, 11))
    const begun = await listRead(vaults[1])
    expect(begun.at(-1)).toBe(11)
    expect(begun).toEqual(range(12 - begun.length, 11))
    expect(await listHistoryProgress(test.db)).toEqual([])
  })

  it('has no snapshot where a vault reverted or the chain stood still, and is not asked for it again', async () => {
    model.vaultAt = (_, block) =>
      block.number > 10 && block.number < 20
        ? undefined
        : { totalAssets: BigInt(block.number), totalSupply: 0n, perShare: (shares) => shares }
    mineUntil(5)
    model.mine(first + 15 * step + 30)
    mineUntil(20)
    await runSnapshots(ctx())
    await readAll()
    const read = await listRead(vaults[0])
    expect(read.at(-1)).toBe(20)
    expect(read.length).toBeLessThan(15)
    expect(await listHistoryProgress(test.db)).toEqual([])
  })

  it('is read past instants of a chain that stood still: they have one last block', async () => {
    mineUntil(3)
    model.mine(first + 40 * step)
    mineUntil(45)
    await runSnapshots(ctx())
    await readAll()
    expect(await listRead(vaults[0])).toEqual([...range(0, 4), ...range(40, 45)])
    expect(await listHistoryProgress(test.db)).toEqual([])
  })

  it('above a block that is orphaned is read anew, from the block in its place', async () => {
    mineUntil(6)
    await runSnapshots(ctx())
    await readAll()
    const from = model.blocks.findIndex(({ timestamp }) => timestamp > first + 3 * step - 200)
    model.blocks.splice(from)
    for (let at = first + 3 * step - 100; at < first + 7 * step; at += 250) model.mine(at, 'other')
    await runSnapshots(ctx())
    await readAll()
    expect(await listRead(vaults[0])).toEqual(range(0, 6))
    const hashes = await test.db<{ hash: string; number: number }[]>`
      select hex_text(block_hash) as hash, block_number as number from vault_snapshots`
    for (const { hash, number } of hashes) expect(hash).toBe(model.blocks[number]?.hash)
  })

  it('is taken at confirmed blocks alone', async () => {
    model = createSnapshotChain({ confirmations: 8 })
    model.vaultAt = (_, block) => ({ totalAssets: BigInt(block.number), totalSupply: 1n, perShare: (shares) => shares })
    mineUntil(10)
    await runSnapshots(ctx())
    await readAll()
    const [top] = await test.db<{ number: number }[]>`select max(block_number) as number from vault_snapshots`
    expect(top?.number).toBeLessThanOrEqual(model.blocks.length - 8)
    expect((await listRead(vaults[0])).length).toBeGreaterThan(5)
  })

  it('of a chain that refuses everything fails nothing else', async () => {
    mineUntil(3)
    model.chain.rpc.request = async () => {
      throw new RpcError(-32000, 'no', undefined)
    }
    await runSnapshots(ctx())
    await readAll()
    expect(await listRead(vaults[0])).toEqual([])
  })
})

describe('the newest instant of a grid', () => {
  it('has its snapshot on a chain whose time begins at 0 too', async () => {
    for (const at of [0, 1, 2, 3]) model.mine(at)
    await runSnapshots(ctx())
    const taken = await test.db<{ at: number }[]>`
      select extract(epoch from block_timestamp)::bigint as at from vault_snapshots`
    expect(taken.map(({ at }) => at)).toEqual([0, 0])
  })
})
