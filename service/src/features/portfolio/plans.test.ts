import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { openTelling } from '../../../test/tellingDatabase.js'
import type { Database } from '../../postgres/pool.js'
import { removeDerived } from '../../sync/storeDerived.js'
import { listBalances } from '../positions/index.js'
import { flows } from './projection.js'
import { sumFlows } from './storeEarnings.js'

import { findMarks } from './storeMarks.js'

const vaults = 10_000
/** Is in every vault. */
const everywhere = `0x${'00'.repeat(19)}ff`
/** Is in a quarter of them. */
const quarter = `0x${'00'.repeat(19)}40`
/** Is in three of them. */
const few = `0x${'00'.repeat(19)}01`

let test: TestDatabase
let db: Database
const { telling, asked } = openTelling(() => db)

beforeAll(async () => {
  test = await openTestDatabase({ max: 1 })
  db = test.db
  await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c'), (2, 'D', 'd')`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    select 1, '0x' || lpad(to_hex(n), 40, '0'), 'erc4626', '0xaa', 6, '0x' || lpad(to_hex(n), 40, '0'), 6
    from generate_series(1, ${vaults}::int) n`
  await db`insert into vault_snapshots (vault_id, block_number, block_timestamp, price_exponent, total_assets, total_supply,
      price_numerator, price_usd, block_hash)
    select v.id, n * 100, to_timestamp(1700000000 + n * 1200), 18, 0, 0, 1000000000000000000 + n, 1, decode(repeat('00', 32), 'hex')
    from vaults v cross join generate_series(1, 5) n`
  await db`insert into vault_identities (vault_id, block_number, block_hash, asset, receipt_token, asset_decimals, receipt_decimals)
    select v.id, n * 100, decode(repeat('00', 32), 'hex'), v.asset, v.receipt_token, 6, 6
    from vaults v cross join generate_series(1, 5) n`
  await db`insert into vault_pauses (vault_id, paused_from, resumed_at)
    select id, to_timestamp(1700000000), to_timestamp(1700000600) from vaults`
  await db`insert into price_observations (chain_id, address, price_usd, source, observed_at, rank)
    select 1, '0xaa', 1, 'test', to_timestamp(1700000000 + n), 3 from generate_series(1, 5000) n`
  for (const [wallet, most] of [
    [everywhere, vaults],
    [quarter, vaults / 4],
    [few, 3],
  ] as const) {
    await db`
      insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
      select 1, 150, id, hex_bytes(${wallet}), 1000, 0 from vaults order by id limit ${most}`
    await db`
      insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before,
        after, attributed_before, attributed_after)
      select 1, 150 + n, to_timestamp(1700000000 + n), v.id, 0, hex_bytes(${wallet}), n, n + 1, 0, 0
      from (select id from vaults order by id limit ${most}) v cross join generate_series(0, 3) n`
    await db`
      insert into requests (id, chain_id, block_number, block_timestamp, vault_id, transaction_index, log_index,
        transaction_hash, kind, controller, owner, request_id, amount, counted, lots, remaining)
      select gen_random_uuid(), 1, 150, to_timestamp(1700000000), id, 0, 0, decode(repeat('00', 32), 'hex'), 'redeem',
        hex_bytes(${wallet}), hex_bytes(${wallet}), 7, 1, 1, '', 1 from vaults order by id limit ${most}`
    await db`
      insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
      select 1, f.n, to_timestamp(1700000000 + f.n * 12), v.id, 0, hex_bytes(${wallet}), f.kind, 1000,
        case when f.kind = 'deposit' then 1000 end
      from (select id, row_number() over (order by id) as place from vaults) v
      cross join lateral (values (150 + v.place % 100, 'deposit'), (250 + v.place % 100, 'transfer-out')) f (n, kind)
      where v.place <= ${most}`
  }
  // Three thousand others in one vault, ten times each.
  await db`
    insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
    select 1, 1000 + n / 100, to_timestamp(1700000000 + n / 100), (select min(id) from vaults), n % 100,
      decode(lpad(to_hex(1000 + n % 3000), 40, '0'), 'hex'), 'deposit', 1, 1 from generate_series(1, 30000) n`
  await db`vacuum analyze`
}, 60_000)
afterAll(() => test?.close())

/** The tables a statement reads as a whole. */
async function listScans(work: (db: typeof telling) => Promise<unknown>): Promise<string[]> {
  asked.length = 0
  await work(telling)
  const scanned: string[] = []
  for (const { text, values } of asked) {
    for (const row of await db.unsafe(`explain ${text}`, values)) {
      const [, table] = /Seq Scan on (\S+)/.exec(String(row['QUERY PLAN'])) ?? []
      if (table !== undefined) scanned.push(table)
    }
  }
  return scanned
}

describe('what a wallet earned', () => {
  it('is read by indexes, whatever others hold', async () => {
    expect(await sumFlows(db, few)).toHaveLength(3)
    expect(await listScans((telling) => sumFlows(telling, few))).toEqual([])
    const above = { chainId: 1, number: 1_295, tip: 1_300 }
    expect(await listScans((telling) => removeDerived(telling, flows.tables, above, { parts: [] }))).toEqual([])
  })

  it('is told of a wallet in ten thousand vaults by three statements', async () => {
    asked.length = 0
    const rows = await sumFlows(telling, everywhere)
    expect(rows).toHaveLength(vaults)
    expect(asked).toHaveLength(3)
    expect(new Set(rows.map(({ deposited, withdrawn }) => `${deposited} ${withdrawn}`))).toEqual(new Set(['1000 1000']))
  })
})

type Node = { [name: string]: unknown; Plans?: Node[] }

/** Rows that a statement's parts gave or passed over. */
function countRows(node: Node): number {
  const { 'Actual Rows': given, 'Actual Loops': loops } = node
  const passed = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck']
  const each = [given, ...passed.map((name) => node[name])].reduce((sum: number, rows) => sum + Number(rows ?? 0), 0)
  return each * Number(loops) + (node.Plans ?? []).reduce((sum, part) => sum + countRows(part), 0)
}

/** The same of all statements of some work. */
async function countAll(work: (db: typeof telling) => Promise<unknown>): Promise<number> {
  asked.length = 0
  await work(telling)
  let rows = 0
  for (const { text, values } of [...asked]) {
    const [told] = await db.unsafe(`explain (analyze, format json) ${text}`, values)
    const plans = told?.['QUERY PLAN'] as { Plan: Node }[]
    rows += plans.reduce((sum, { Plan }) => sum + countRows(Plan), 0)
  }
  return rows
}

describe('four times the positions', () => {
  beforeAll(async () => {
    // Every vault was once of a token nobody knows.
    await db`update vault_identities set asset = '0xbb' where block_number = 200`
    await db`vacuum analyze vault_identities`
  })

  it.each([
    ['the marks of a wallet', (db: typeof telling, wallet: string) => findMarks(db, wallet)],
    ['its balances', (db: typeof telling, wallet: string) => listBalances(db, [wallet])],
    ['its earnings, all vaults being doubted', (db: typeof telling, wallet: string) => sumFlows(db, wallet)],
  ])('take at most four times the rows of the database: %s', async (_name, work) => {
    const one = await countAll((db) => work(db, quarter))
    const four = await countAll((db) => work(db, everywhere))
    expect(one).toBeGreaterThan(vaults / 4)
    expect(four).toBeLessThan(4.4 * one)
  })
})
