// Bytes of a row with its indexes, in tables as they are and as they were before addresses and hashes were bytes:
// node bench/micro/tableBytes.mjs [rows]. Amounts have 18 digits, wallets and hashes are random.
import { openBenchDatabase } from './database.mjs'

const rows = Number(process.argv[2] ?? 200_000)
const bench = await openBenchDatabase()
const { db } = bench
await db.unsafe(`
  create schema old;
  create table old.logs (chain_id bigint not null, block_number bigint not null, log_index integer not null,
    transaction_index integer not null, transaction_hash text collate "C" not null, address text collate "C" not null,
    topics text collate "C" not null, data text collate "C" not null, primary key (chain_id, block_number, log_index));
  create index on old.logs (chain_id, address, block_number);
  create table old.balance_changes (vault_id integer not null, wallet text collate "C" not null,
    block_number bigint not null, transaction_index integer not null, block_timestamp timestamptz not null,
    before numeric not null, after numeric not null, attributed_before numeric not null, attributed_after numeric not null,
    primary key (vault_id, wallet, block_number, transaction_index));
  create index on old.balance_changes using brin (block_number) with (pages_per_range = 16);
  create index on old.balance_changes (vault_id, block_timestamp)
    where before = 0 or after = 0 or ((attributed_before = 0) <> (attributed_after = 0))`)

const bytes = (text, size) => `substr(sha256((${text})::text::bytea), 1, ${size})`
const wallet = bytes(`n % ${rows / 10}`, 20)
const amount = '123456789012345678::numeric + n'
/** Rows of a block: 1 is the dearest for an index by block, a busy vault has more. */
for (const perBlock of [1, 4]) {
  await db.unsafe('truncate logs, balance_changes, old.logs, old.balance_changes')
  const block = `21000000 + n / ${perBlock}`
  const at = `to_timestamp(1700000000 + n / ${perBlock} * 12)`
  const hash = bytes(`n / 2`, 32)
  const padded = `'\\x000000000000000000000000'::bytea || ${wallet}`
  const all = `generate_series(1, ${rows}) n order by n`
  await db.unsafe(`
    insert into logs select 1, ${block}, n % ${perBlock}, 0, ${hash}, ${bytes('n % 20', 20)}, ${bytes('1', 32)}, ${padded},
      ${padded}, null, ${bytes('n', 32)} from ${all};
    insert into old.logs select 1, ${block}, n % ${perBlock}, 0, hex_text(${hash}), hex_text(${bytes('n % 20', 20)}),
      concat_ws(',', hex_text(${bytes('1', 32)}), hex_text(${padded}), hex_text(${padded})), hex_text(${bytes('n', 32)})
      from ${all};
    insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
      attributed_before, attributed_after)
      select 1, ${block}, ${at}, 7, n % ${perBlock}, ${wallet}, ${amount}, ${amount} + 1, ${amount}, ${amount} + 1 from ${all};
    insert into old.balance_changes select 7, hex_text(${wallet}), ${block}, n % ${perBlock}, ${at}, ${amount}, ${amount} + 1,
      ${amount}, ${amount} + 1 from ${all};`)
  await db.unsafe('vacuum analyze logs, balance_changes, old.logs, old.balance_changes')
  for (const table of ['logs', 'balance_changes']) {
    const [size] = await db.unsafe(`select pg_total_relation_size('old.${table}')::float8 / ${rows} as before,
      pg_total_relation_size('public.${table}')::float8 / ${rows} as now`)
    const { before, now } = size
    console.log(
      `${table}, ${perBlock} a block: ${before.toFixed(0)} bytes a row before, ${now.toFixed(0)} now, ${(now / before).toFixed(2)} ×`,
    )
  }
}
await bench.close()
