-- Owner: vaults. Observations: which asset and share token a vault named at a block, and the decimals these said then, null
-- where one does not say. Removed only with an orphaned block.
create table vault_identities (
  vault_id integer not null references vaults (id) on delete cascade,
  block_number bigint not null,
  block_hash bytea not null check (length(block_hash) = 32),
  asset text collate "C" not null,
  receipt_token text collate "C" not null,
  asset_decimals integer,
  receipt_decimals integer,
  primary key (vault_id, block_number)
);
-- Finds readings that are not what is configured: they are few among very many.
create index vault_identities_named_idx
  on vault_identities (vault_id, asset, receipt_token, asset_decimals, receipt_decimals);
