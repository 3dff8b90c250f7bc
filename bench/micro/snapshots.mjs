// Bytes of a vault snapshot with its indexes: node bench/micro/snapshots.mjs [rows]. Beside it the table as it was once.
import { openBenchDatabase } from './database.mjs'

const rows = Number(process.argv[2] ?? 300_000)
const vaults = 100

const bench = await openBenchDatabase()
const { db } = bench
await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c')`
await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
  select 1, '0x' || md5(n::text) || '00000000', 'erc4626', '0xaa', 6, '0x' || md5(n::text) || '00000000', 18
  from generate_series(1, ${vaults}::int) n`
await db`insert into price_observations (chain_id, address, price_usd, source, observed_at)
  select 1, '0xaa', 1, 'peg', to_timestamp(1700000000 + n * 900) from generate_series(0, ${Math.ceil(rows / vaults)}::int) n`
await db.unsafe(`
  create table snapshots_before (
    chain_id bigint not null, vault_address text not null, block_number bigint not null, block_hash text not null,
    block_timestamp timestamptz not null, total_assets numeric(78, 0) not null, total_supply numeric(78, 0) not null,
    price_numerator numeric(78, 0) not null, price_exponent integer not null,
    price_observation_id bigint references price_observations (id),
    primary key (chain_id, vault_address, block_number));
  create index on snapshots_before (chain_id, vault_address, block_timestamp desc);
  create index on snapshots_before (chain_id, block_number desc);
  create index on snapshots_before (price_observation_id)`)
// All vaults every quarter of an hour, as they are read; amounts of 18 digits and more.
const grid = db`
  select v.id, v.address, g.n, 20000000 + g.n * 75 as number, md5(g.n::text) || md5('b' || g.n) as hash,
    to_timestamp(1700000000 + g.n * 900) as at, 10000000000000 + g.n::bigint * 77777777 as assets,
    (10000000000000 + g.n::bigint * 55555555)::numeric * 1000000000003 as supply, 1000000 + g.n as price
  from generate_series(0, ${rows / vaults - 1}::int) g (n) cross join vaults v order by g.n, v.id`
await db`
  insert into snapshots_before
  select 1, g.address, g.number, '0x' || g.hash, g.at, g.assets, g.supply, g.price, 18, g.n + 1 from (${grid}) g`
await db`
  insert into vault_snapshots (vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply,
    price_numerator, price_exponent, price_observation_id, price_usd)
  select g.id, g.number, decode(g.hash, 'hex'), g.at, g.assets, g.supply, g.price, 18, g.n + 1, 0.99980001 from (${grid}) g`
const figures = {}
for (const table of ['snapshots_before', 'vault_snapshots']) {
  const [{ total, heap, count }] = await db`
    select pg_total_relation_size(${table}) as total, pg_relation_size(${table}) as heap, count(*) from ${db(table)}`
  figures[table] = Number(total) / Number(count)
  console.log(
    `${table.padEnd(18)} ${figures[table].toFixed(0)} bytes a row, ${(Number(heap) / Number(count)).toFixed(0)} of them without indexes`,
  )
}
console.log(`ratio ${(figures['vault_snapshots'] / figures['snapshots_before']).toFixed(2)}`)
await bench.close()
