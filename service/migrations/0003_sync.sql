-- Owner: sync. `blocks`, `logs` and `transactions` are the raw store: append-only facts, removed only with an orphaned
-- block; hashes, addresses and data are bytes (`hex_text` shows them). They have no foreign keys: they are written in bulk
-- by the process that owns the chain. What removes orphaned blocks is an index that begins with the chain.
-- `chain_cursors` says how far a chain is derived; it moves in the same transaction as everything derived.
-- `watched_vaults` and `refetches` are progress of our own, `chain_reorgs` is a record that stays.
create table blocks (
  chain_id bigint not null,
  number bigint not null,
  timestamp timestamptz not null,
  hash bytea not null,
  parent_hash bytea not null,
  -- A header without logs goes once its block is final.
  has_logs boolean not null,
  primary key (chain_id, number)
);
create index blocks_empty_idx on blocks (chain_id, number) where not has_logs;
create index blocks_timestamp_idx on blocks (chain_id, timestamp);

create table logs (
  chain_id bigint not null,
  block_number bigint not null,
  log_index integer not null,
  transaction_index integer not null,
  transaction_hash bytea not null,
  address bytea not null,
  -- A log has none to four.
  topic0 bytea,
  topic1 bytea,
  topic2 bytea,
  topic3 bytea,
  data bytea not null,
  primary key (chain_id, block_number, log_index)
);
create index logs_address_idx on logs (chain_id, address, block_number);

-- Only transactions with a vault event or to an entry point.
create table transactions (
  chain_id bigint not null,
  block_number bigint not null,
  transaction_index integer not null,
  hash bytea not null,
  sender bytea not null,
  target bytea,
  input bytea not null,
  primary key (chain_id, block_number, transaction_index)
);
create index transactions_hash_idx on transactions (hash, chain_id);

create table chain_cursors (
  chain_id bigint primary key references chains (chain_id),
  -- First block read.
  start_block bigint not null,
  -- Last block derived; one below start_block before the first.
  block_number bigint not null,
  block_hash text collate "C" not null,
  block_timestamp timestamptz,
  head_number bigint not null,
  finalized_number bigint,
  state text not null default 'backfilling' check (state in ('backfilling', 'live', 'stalled')),
  reason text,
  -- What of the configuration the derived rows rest on; a difference re-derives.
  configuration jsonb not null default '[]',
  updated_at timestamptz not null,
  -- From this block on every block is compared with its header before it is derived.
  followed_from bigint not null default 0,
  -- Up to this block that was done again once it was final.
  checked_to bigint not null default -1
);

-- Vaults whose logs are read, and up to where for one that was added later than the rest.
create table watched_vaults (
  chain_id bigint not null,
  address text collate "C" not null,
  from_block bigint not null,
  synced_to bigint not null,
  -- Whether its logs are read as far as the rest, and derived with them.
  synced boolean not null,
  primary key (chain_id, address)
);

-- A record of every reorganisation, kept for good.
create table chain_reorgs (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  detected_at timestamptz not null,
  ancestor_number bigint not null,
  ancestor_hash text not null,
  old_number bigint not null,
  old_hash text not null,
  retracted_interactions integer not null
);
create index chain_reorgs_chain_idx on chain_reorgs (chain_id, detected_at);

-- Ranges an operator asks a node for again, and up to where that is done, so that it can go on after a break.
create table refetches (
  chain_id bigint not null,
  from_block bigint not null,
  to_block bigint not null,
  done_to bigint not null,
  -- What was found and repaired so far.
  missing_logs bigint not null default 0,
  extra_logs bigint not null default 0,
  first_wrong bigint,
  primary key (chain_id, from_block, to_block)
);
