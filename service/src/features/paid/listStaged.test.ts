import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { createSnapshotChain, type ModelBlock } from '../../../test/snapshotChain.js'
import { describeStaged } from '../../cli/doctorPrices.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { listStaged } from './index.js'

const chainId = 31_337
const start = 1_700_000_000
const whole = 10n ** 18n
const model = createSnapshotChain()
const blockOf = (number: number) => model.blocks[number] as ModelBlock
const at = (number: number) => new Date((start + number) * 1_000)

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
  await test.db`insert into chains (chain_id, name, slug, watched) values (${chainId}, 'C', 'c', true)`
  for (let block = 0; block < 60; block++) model.mine(start + block)
})
afterAll(() => test?.close())

/** A vault whose snapshots, each ten blocks, tell a price of 100, and that sells shares at given prices between them. */
async function addVault(name: string, sales: readonly (readonly [block: number, price: number])[]): Promise<string> {
  const address = `0x${name.repeat(20)}`
  const [row] = await test.db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, dust_floor)
    values (${chainId}, ${address}, 'erc4626', '0xdd', 6, ${address}, 6, 1000) returning id`
  for (let number = 10; number < 60; number += 10) {
    const figures = { totalAssets: 1n, totalSupply: whole, priceNumerator: 100n * whole, priceExponent: 18 }
    await recordSnapshots(test.db, [{ chainId, vaultAddress: address, block: blockOf(number), figures }])
  }
  for (const [number, price] of sales) {
    const { hash, timestamp } = blockOf(number)
    await test.db`
      insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash,
        shares, assets)
      values (${chainId}, ${number}, to_timestamp(${timestamp}), ${row?.id ?? 0}, 0, hex_bytes(${hash}), hex_bytes(${hash}),
        ${String(10n ** 12n)}, ${String((BigInt(Math.round(price * 1_000)) * 10n ** 12n) / 1_000n)})`
  }
  return address
}

describe('vaults whose price was staged or lost', () => {
  it('are those that sold shares cheaper than a snapshot by more than the setting, with the snapshots counted once', async () => {
    await addVault('a1', [
      [12, 100],
      [13, 101],
    ])
    await addVault('a2', [[12, 99.5]])
    const one = await addVault('a3', [
      [12, 99.4],
      [14, 1],
      [23, 100],
      [33, 2],
    ])
    const ask = { from: at(10), to: at(59) }
    expect(await listStaged(test.db, { ...ask, stagedBps: 50 })).toEqual([{ chainId, vaultAddress: one, staged: 2 }])
    const strict = await listStaged(test.db, { ...ask, stagedBps: 49 })
    expect(strict.map(({ staged }) => staged)).toEqual([1, 2])
    expect(await listStaged(test.db, { from: at(34), to: at(59), stagedBps: 50 })).toEqual([])
  })

  it('are named by the doctor', () => {
    const vaultAddress = `0x${'a3'.repeat(20)}`
    expect(describeStaged([{ chainId, vaultAddress, staged: 2 }])).toMatch(
      `paid by the lower price: 31337:${vaultAddress} 2 times`,
    )
    expect(describeStaged([])).toBe('in 7 days no vault sold shares below the price of its snapshot')
  })
})
