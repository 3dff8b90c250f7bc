-- Owner: positions. Derived. What of a wallet's moves went beyond the balance its Transfers make, and was cut: of a share
-- that rebases, or of a vault that is read from too late a block on. One row per transaction and wallet.
create table cut_moves (
  chain_id bigint not null,
  block_number bigint not null,
  vault_id integer not null,
  transaction_index integer not null,
  wallet bytea not null,
  amount numeric not null check (amount > 0),
  primary key (vault_id, block_number, transaction_index, wallet)
);
create index cut_moves_block_idx on cut_moves (chain_id, block_number);

create unlogged table rebuilt_cut_moves (like cut_moves) with (autovacuum_enabled = off);
