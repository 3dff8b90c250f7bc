-- Owner: rpc. `chains` is configuration kept by the operator: what a chain is called and how its nodes are asked.
create table chains (
  chain_id bigint primary key check (chain_id >= 1),
  name text not null,
  slug text not null unique,
  logo_url text not null default '',
  explorer_url text not null default '',
  native_symbol text not null default 'ETH',
  active boolean not null default true,
  -- Watched by this installation; a chain that only has metadata is not.
  watched boolean not null default false,
  rpc_urls text[] not null default '{}',
  confirmations integer not null default 1 check (confirmations >= 1),
  finality_depth integer not null default 64 check (finality_depth >= 1),
  poll_interval_ms integer not null default 1000 check (poll_interval_ms >= 50),
  reorg_recheck_seconds integer not null default 2,
  -- Entry points beside the known ones.
  entry_points text[] not null default '{}',
  -- The ERC-20 that wraps the native token; null when none is known.
  wrapped_native text check (wrapped_native = lower(wrapped_native)),
  deposit_router text check (deposit_router = lower(deposit_router)),
  created_at timestamptz not null default now(),
  -- The most gas a transaction may have; null means the cap of EIP-7825.
  transaction_gas_cap bigint check (transaction_gas_cap >= 1000000),
  -- Whether the cost of posting to another chain is part of a transaction's gas limit.
  l1_gas_in_limit boolean not null default false,
  -- Whether what one node alone says of how a transaction ran may attribute.
  trust_traces boolean not null default false,
  -- So long after its confirmation the trace of a transaction is asked for.
  trace_wait_seconds integer not null default 600 check (trace_wait_seconds >= 0),
  -- Contracts that call vaults in another's name, each `{ address, activeFrom }`.
  forwarders jsonb not null default '[]',
  -- The exchanges of the chain that may be asked and called, and the tokens a route may pass through; null: none.
  swap jsonb,
  -- The factory of reward streams; null: none are created there.
  stream_factory text check (stream_factory = lower(stream_factory)),
  -- The lending markets whose positions portfolios tell; null: none.
  lending jsonb,
  -- Whether the inputs of all transactions of each new block are read for suffixes of ours: a full block each time.
  scan_inputs boolean not null default false
);
