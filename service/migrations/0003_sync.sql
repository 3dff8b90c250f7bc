-- Owner: sync. `blocks`, `logs` and `transactions` are the raw store: append-only facts, removed only with an orphaned
-- block; hashes, addresses and data are bytes (`hex_text` shows them). They have no foreign keys: they are written in bulk
-- by the process that owns the chain. What removes orphaned blocks is an index that begins with the chain.
-- `chain_cursors` says how far a chain is derived; it moves in the same transaction as everything derived.
-- `projections`, `sources`, `rebuilds` and `refetches` are progress of our own, `chain_reorgs` is a record that stays.
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
  -- How often sources that were added later have caught up.
  joins bigint not null default 0,
  updated_at timestamptz not null,
  -- From this block on every block is compared with its header before it is derived.
  followed_from bigint not null default 0,
  -- Up to this block that was done again once it was final.
  checked_to bigint not null default -1
);

-- What is derived of a chain, one row a projection.
create table projections (
  chain_id bigint not null,
  name text collate "C" not null,
  -- What of the configuration its rows rest on; a difference re-derives.
  configuration jsonb not null,
  -- Up to where it is derived, where that is not with the chain but later, once blocks are confirmed.
  derived_to bigint not null,
  primary key (chain_id, name)
);

-- What is read of a chain, by the projection that asks for it, and up to where for what was added later than the rest.
create table sources (
  chain_id bigint not null,
  projection text collate "C" not null,
  -- Its name in the projection, such as the address of a vault.
  source text collate "C" not null,
  from_block bigint not null,
  synced_to bigint not null,
  -- Whether its logs are read as far as the rest, and derived with them.
  synced boolean not null,
  primary key (chain_id, projection, source)
);

-- A rebuild that is under way: its rows are in the twins `rebuilt_*` up to a block. Like these it is not logged: after a
-- crash of the database all of them are empty. One at a time.
create unlogged table rebuilds (
  chain_id bigint primary key,
  -- Which projections, and a hash of the configuration their rows rest on.
  rests text not null,
  done_to bigint not null,
  events bigint not null,
  -- Nothing above this block is in the twins before the rebuild ends.
  reads_to bigint not null,
  -- Whether rows up to there were derived anew meanwhile, from other logs or another configuration.
  spoiled boolean not null default false
);

-- The transaction that last changed what rows are derived by. Tables that hold some of it call the trigger.
create table configuration_version (transaction_id bigint not null);
insert into configuration_version values (0);
create function note_configuration() returns trigger language plpgsql as $$
begin
  update configuration_version set transaction_id = txid_current() where transaction_id <> txid_current();
  return null;
end $$;
create trigger chains_configuration after update on chains for each row
  when (old.entry_points is distinct from new.entry_points or old.confirmations <> new.confirmations
    or old.trust_traces <> new.trust_traces or old.forwarders <> new.forwarders)
  execute function note_configuration();

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

-- Part of the raw store: of a transaction that needs it, the calls on the way to its logs of ours as a node's trace told
-- them, checked (facts); a row without calls is the observation that no trace was to be had. `awaited_traces` and
-- `chain_evidence` are progress of our own: which traces are still asked for, and what the nodes of a chain can give.
create table call_paths (
  chain_id bigint not null,
  block_number bigint not null,
  transaction_index integer not null,
  -- Whether the trace told logs; null with `calls`.
  has_logs boolean,
  -- Packed; what stands in the transaction's input is not kept twice.
  calls bytea,
  check ((has_logs is null) = (calls is null)),
  primary key (chain_id, block_number, transaction_index)
);
create index call_paths_none_idx on call_paths (chain_id, block_number) where calls is null;

create table awaited_traces (
  chain_id bigint not null,
  block_number bigint not null,
  transaction_index integer not null,
  -- A trace is of one block: that of another is no answer.
  block_hash bytea not null,
  tries integer not null default 0,
  next_at timestamptz not null,
  -- Since when its block is confirmed, as this installation saw it.
  confirmed_at timestamptz,
  primary key (chain_id, block_number, transaction_index)
);
create index awaited_traces_next_idx on awaited_traces (chain_id, next_at);

create table chain_evidence (
  chain_id bigint primary key references chains (chain_id),
  evidence text not null check (evidence in ('trace', 'calldata')),
  told_at timestamptz not null
);

-- Observations: of the wallets of a transaction that may keep shares without having called anything, those
-- that had code at its block, 20 bytes each; no row where nobody was asked about or no node answered. Removed only with an
-- orphaned block.
create table keeper_codes (
  chain_id bigint not null,
  block_number bigint not null,
  transaction_index integer not null,
  contracts bytea not null check (length(contracts) % 20 = 0),
  primary key (chain_id, block_number, transaction_index)
);
