-- Owner: sync. `call_paths` is part of the raw store: of a transaction that needs it, the calls on the way to its logs of
-- ours as a node's trace told them, checked (facts); a row without calls is the observation that no trace was to be had.
-- Both are removed only with an orphaned block. `awaited_traces` and `chain_evidence` are progress of our own: which
-- traces are still asked for, and what the nodes of a chain can give.
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
