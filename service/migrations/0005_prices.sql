-- Observations, append-only. A fixed peg is one observation at its start; nothing is priced by an observation newer
-- than the instant asked for.
create table price_observations (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  address text not null,
  price_usd numeric not null check (price_usd >= 0),
  source text not null,
  observed_at timestamptz not null,
  block_number bigint,
  block_hash text
);
create index price_observations_token_idx on price_observations (chain_id, address, observed_at desc, id desc);

-- What a vault answered at one block, all members read together. Observations; a row goes only with its block.
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
