-- Signatures of ours that counted in a vault, each once. Derived; those of orphaned blocks go.
create table used_signatures (
  vault_id integer not null,
  -- EIP-712 digest, 0x text.
  digest text collate "C" not null,
  block_number bigint not null,
  primary key (vault_id, digest)
);
create index used_signatures_block_idx on used_signatures using brin (block_number) with (pages_per_range = 16);

-- Why something a transaction's calldata says does not count.
alter table watched add column problems text[] not null default '{}';

-- Several wallets may keep parts of what one event minted.
alter table interactions drop constraint interactions_chain_id_block_hash_transaction_hash_log_index_key;
alter table interactions add constraint interactions_event_key
  unique (chain_id, block_hash, transaction_hash, log_index, distributor_id, wallet);
