-- Owner: vaults. `protocols` and `vaults` are configuration kept by the operator; what decides ledger rows is dated by
-- chain time in `active_from`. `vault_snapshots` are observations. Addresses are lower-case.
create table protocols (
  id uuid primary key,
  name text not null,
  logo_url text not null default '',
  site_url text not null default ''
);

create table vaults (
  chain_id bigint not null references chains (chain_id),
  address text not null check (address = lower(address)),
  kind text not null,
  protocol_id uuid references protocols (id),
  asset text not null,
  asset_decimals integer not null,
  receipt_token text not null,
  receipt_decimals integer not null,
  -- First block worth reading: the vault's deployment.
  start_block bigint not null default 0,
  active_from timestamptz not null default now(),
  snapshot_interval_seconds integer not null default 900,
  id integer generated always as identity,
  -- Holds shares or assets on behalf of others (an escrow or silo); never counted as a depositor.
  escrow text check (escrow = lower(escrow)),
  primary key (chain_id, address),
  constraint vaults_id_key unique (id)
);
create index vaults_protocol_id_idx on vaults (protocol_id);

-- What a vault answered at one block, all members read together; a row goes only with its block.
create table vault_snapshots (
  chain_id bigint not null,
  vault_address text not null,
  block_number bigint not null,
  block_hash text not null,
  block_timestamp timestamptz not null,
  total_assets numeric(78, 0) not null,
  total_supply numeric(78, 0) not null,
  -- convertToAssets(10^price_exponent)
  price_numerator numeric(78, 0) not null,
  price_exponent integer not null,
  price_observation_id bigint references price_observations (id),
  primary key (chain_id, vault_address, block_number)
);
create index vault_snapshots_time_idx on vault_snapshots (chain_id, vault_address, block_timestamp desc);
create index vault_snapshots_block_idx on vault_snapshots (chain_id, block_number desc);
create index vault_snapshots_price_observation_id_idx on vault_snapshots (price_observation_id);
