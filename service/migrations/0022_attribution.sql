-- Owner: attribution. Observations: in which transactions an action was found, by a report, a look-up, the scan of a chain's inputs
-- or the look before an action is called expired. That a transaction carries an action follows from its calldata alone; the
-- block it was found in goes with that block, and so does how far was looked.
create table action_sightings (
  action_id uuid not null references actions (id),
  transaction_hash bytea not null,
  chain_id bigint not null,
  -- False for a swap that only goes with the action's own call.
  is_main boolean not null,
  -- Null where no block is known to have it.
  block_number bigint,
  block_hash bytea,
  success boolean,
  -- Read when its block was final already: it is not read again.
  is_final boolean not null default false,
  found_at timestamptz not null,
  primary key (action_id, transaction_hash),
  check ((block_number is null) = (block_hash is null) and (block_number is null) = (success is null))
);
create index action_sightings_block_idx on action_sightings (chain_id, block_number) where block_number is not null;
create index action_sightings_transaction_idx on action_sightings (transaction_hash);

-- The blocks whose inputs are scanned: those above `from_block` up to `to_block`.
create table input_scans (
  chain_id bigint primary key,
  from_block bigint not null,
  to_block bigint not null
);
