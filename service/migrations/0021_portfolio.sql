-- Owner: portfolio. Derived, of confirmed blocks only: what each transaction did to what a wallet holds of a vault, shares
-- that wait for a redemption counted as held. The signed sum of a wallet's shares is what it holds. It keeps facts alone:
-- what transferred shares were worth, and US dollars, follow from snapshots and price observations where they are read, so
-- that one which comes late changes no row.
-- Without foreign keys, by design: rows are written in bulk by the one process that holds the chain's cursor, and a rebuild
-- compares them all.
create table flows (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  transaction_index integer not null,
  wallet bytea not null,
  kind text collate "C" not null check (kind in ('deposit', 'withdrawal', 'transfer-in', 'transfer-out')),
  shares numeric not null check (shares >= 0),
  -- What the vault's events say was paid for them, in smallest units of its asset; of transfers nothing does.
  assets numeric check ((assets is null) = (kind in ('transfer-in', 'transfer-out'))),
  primary key (wallet, vault_id, block_number, transaction_index, kind)
);
create index flows_block_idx on flows (chain_id, block_number);

-- Where flows are derived again while the old ones are read.
create unlogged table rebuilt_flows (like flows) with (autovacuum_enabled = off);
