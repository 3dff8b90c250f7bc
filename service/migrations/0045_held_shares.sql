-- Owner: positions. Derived: what each declared holder of a vault's shares keeps for an account; with the holder itself as the
-- wallet, what it keeps for nobody. `balances` and `lots` of an account contain it. `held_share_changes` keep every value before and
-- after, one row per transaction that touched it, changed or not; `held_shares` are the present.
-- Without foreign keys, by design: rows are written in bulk by the one process that holds the chain's cursor, and a rebuild
-- compares them all.
create table held_shares (
  chain_id bigint not null,
  first_block bigint not null,
  vault_id integer not null,
  holder bytea not null check (length(holder) = 20),
  wallet bytea not null check (length(wallet) = 20),
  shares numeric not null check (shares >= 0),
  -- The lots of an account, as `alpha=5 beta=6`; of the holder itself its state: phase, ignored events, instant and reason.
  detail text collate "C" not null,
  primary key (vault_id, holder, wallet)
) with (fillfactor = 90);
create index held_shares_wallet_idx on held_shares (vault_id, wallet);

create table held_share_changes (
  chain_id bigint not null,
  block_number bigint not null,
  vault_id integer not null,
  transaction_index integer not null,
  holder bytea not null check (length(holder) = 20),
  wallet bytea not null check (length(wallet) = 20),
  before numeric not null,
  after numeric not null,
  detail_before text collate "C" not null,
  detail_after text collate "C" not null,
  primary key (vault_id, holder, wallet, block_number, transaction_index)
);
create index held_share_changes_block_idx on held_share_changes (chain_id, block_number);

-- Where they are derived again while the old ones are read.
create unlogged table rebuilt_held_shares (like held_shares) with (autovacuum_enabled = off);
create unique index rebuilt_held_shares_key on rebuilt_held_shares (vault_id, holder, wallet);
create unlogged table rebuilt_held_share_changes (like held_share_changes) with (autovacuum_enabled = off);
create unique index rebuilt_held_share_changes_key
  on rebuilt_held_share_changes (vault_id, holder, wallet, block_number, transaction_index);
