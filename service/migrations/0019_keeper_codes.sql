-- Owner: sync. Observations: of the wallets of a transaction that may keep shares without having called anything, those
-- that had code at its block, 20 bytes each; no row where nobody was asked about or no node answered. Removed only with an
-- orphaned block.
create table keeper_codes (
  chain_id bigint not null,
  block_number bigint not null,
  transaction_index integer not null,
  contracts bytea not null check (length(contracts) % 20 = 0),
  primary key (chain_id, block_number, transaction_index)
);
