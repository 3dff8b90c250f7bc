-- Owner: positions. Derived, of confirmed blocks only: the shares that vaults minted, with what a deposit paid for them. From
-- these follows the price that holders are paid by.
-- Without foreign keys, by design: rows are written in bulk by the one process that holds the chain's cursor, and a rebuild
-- compares them all.
create table share_mints (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  log_index integer not null,
  block_hash bytea not null check (length(block_hash) = 32),
  transaction_hash bytea not null check (length(transaction_hash) = 32),
  shares numeric(78, 0) not null check (shares > 0),
  -- In smallest units of the asset; null where shares were minted otherwise than by a deposit that completes at once.
  assets numeric(78, 0) check (assets > 0),
  primary key (vault_id, block_number, log_index)
);
create index share_mints_block_idx on share_mints (chain_id, block_number);

-- Where mints are derived again while the old ones are read.
create unlogged table rebuilt_share_mints (like share_mints) with (autovacuum_enabled = off);
