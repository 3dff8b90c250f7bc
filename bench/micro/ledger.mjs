// Lists of a ledger: node bench/micro/ledger.mjs [entries]. Every order and filter, its first page and one three quarters down.
import { listActivity, sortKeys } from '../../service/dist/features/ledger/storePages.js'
import { openBenchDatabase } from './database.mjs'

const entries = Number(process.argv[2] ?? 200_000)
const vaults = 20
const limit = 20
const times = 5

const bench = await openBenchDatabase()
const { db } = bench
const opportunity = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const wallet = (n) => `0x${n.toString(16).padStart(40, '0')}`
const product = '33333333-3333-4333-8333-333333333333'
const organization = '11111111-1111-4111-8111-111111111111'
await db`insert into chains (chain_id, name, slug, confirmations) values (1, 'C', 'c', 2)`
await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
  select 1, '0x' || lpad(to_hex(n), 40, '0'), 'erc4626', '0xaa', 6, '0x' || lpad(to_hex(n), 40, '0'), 6
  from generate_series(1, ${vaults}::int) n`
await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
  select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'o' || n, 'Vault ' || n, 'vault', 1,
    '0x' || lpad(to_hex(n), 40, '0') from generate_series(1, ${vaults}::int) n`
await db`insert into organizations (id, name, organization_type) values (${organization}, 'O', 'distributor')`
await db`insert into distributors (id, organization_id)
  select 'distributor' || n, ${organization} from generate_series(0, 9) n`
await db`insert into products (id, name) values (${product}, 'P')`
await db`insert into opportunity_products (opportunity_id, product_id) values (${opportunity(3)}, ${product})`
await db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
  values (1, 0, ${entries / 2}, '0x', ${entries / 2}, ${entries / 2 - 1_000}, now())`
await db`
  insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
    transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap, amount_usd)
  select gen_random_uuid(), 1, v.id, case when n % 3 = 0 then 'withdraw' else 'deposit' end, n / 2, 'b' || n / 2,
    to_timestamp(1700000000 + n / 2), '0x' || lpad(to_hex(n), 64, '0'), 0, n % 2,
    '0x' || lpad(to_hex(n % 5000), 40, '0'), 'distributor' || n % 10, 'signed', n % 977, 1, n % 977, false,
    case when n % 7 = 0 then null else n % 977 end
  from generate_series(1, ${entries}::int) n
  join (select id, row_number() over (order by id) - 1 as place from vaults) v on v.place = n % ${vaults}`
await db`insert into interaction_counts
  select chain_id, vault_id, distributor_id, kind, count(*) from interactions
  group by chain_id, vault_id, distributor_id, kind`
await db`vacuum analyze interactions`
await db`analyze`
const [size] = await db`
  select pg_table_size('interactions') as heap, pg_indexes_size('interactions') as indexes,
    (select count(*) from pg_indexes where tablename = 'interactions') as count`
console.log(
  `${entries} entries: ${Math.round(size.heap / entries)} bytes each and ${Math.round(size.indexes / entries)} in ${size.count} indexes`,
)

const filters = {
  nothing: {},
  kind: { kind: 'withdraw' },
  distributor: { distributorId: 'distributor3' },
  opportunity: { opportunityId: opportunity(3) },
  product: { productId: product },
  'distributor, opportunity': { distributorId: 'distributor3', opportunityId: opportunity(4) },
  'distributor, nothing of it': { distributorId: 'distributor3', opportunityId: opportunity(1) },
  'distributor, kind': { distributorId: 'distributor3', kind: 'deposit' },
  wallets: { wallets: [wallet(7), wallet(8)] },
}

/** The median of some pages, in milliseconds. */
async function time(filter, sort, offset) {
  const took = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    await listActivity(db, filter, { page: 1 + offset / limit, limit, offset }, sort)
    took.push(performance.now() - start)
  }
  return took.sort((a, b) => a - b)[Math.floor(times / 2)]
}

for (const [name, filter] of Object.entries(filters)) {
  const { total } = await listActivity(db, filter, { page: 1, limit: 1, offset: 0 })
  const offset = Math.floor((Number(total) * 0.75) / limit) * limit
  for (const by of sortKeys)
    for (const order of ['asc', 'desc']) {
      const first = await time(filter, { by, order }, 0)
      const deep = await time(filter, { by, order }, offset)
      console.log(
        `${name.padEnd(28)} ${by.padEnd(12)} ${order.padEnd(5)} first ${first.toFixed(1).padStart(7)} ms   at ${String(offset).padStart(6)} ${deep.toFixed(1).padStart(7)} ms`,
      )
    }
}
await bench.close()
