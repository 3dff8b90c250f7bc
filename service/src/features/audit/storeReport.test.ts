import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { newId } from '../../kernel/ids.js'
import { streamExport } from './exports.js'

const vault = `0x${'cc'.repeat(20)}`
const blockHash = `0x${'b1'.repeat(32)}`
const wallets = ['02', '03', '01'].map((byte) => `0x${byte.repeat(20)}`)

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase({ max: 1 })
  const { db } = test
  // Rows come in the order of the statement, not in that of an index that happens to be read.
  await db`set enable_indexscan = off`
  await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c')`
  await db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, updated_at)
    values (1, 0, 10, ${blockHash}, 10, now())`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (1, ${vault}, 'erc4626', '0xaa', 6, ${vault}, 6)`
  for (const wallet of wallets)
    await db`insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp,
        transaction_hash, transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap)
      select ${newId()}, 1, id, 'deposit', 5, ${blockHash}, now(), '0x01', 0, 0, ${wallet}, 'acme', 'signed', 1, 1, 1, false
      from vaults`
  await db`insert into vault_snapshots (block_number, block_timestamp, vault_id, price_exponent, total_assets, total_supply,
      price_numerator, block_hash)
    select 5, now(), id, 6, 1, 1, 1, hex_bytes(${blockHash}) from vaults`
})
afterAll(() => test?.close())

async function read(name: 'ledger' | 'snapshots') {
  const rows: Record<string, unknown>[] = []
  for await (const chunk of streamExport(test.db, name)) rows.push(...chunk)
  return rows
}

describe('an export', () => {
  it('has the entries of one event in the order of their wallets', async () => {
    const rows = await read('ledger')
    expect(rows.map((row) => row['wallet'])).toEqual([...wallets].sort())
  })

  it('shows the hash of a block as lower-case 0x text', async () => {
    expect(await read('snapshots')).toMatchObject([{ vault, block_number: 5, block_hash: blockHash }])
  })
})
