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
  -- Addresses of the contracts beside the vault that its kind knows, by name: what they emit is the vault's.
  contracts jsonb not null default '{}' check (contracts::text = lower(contracts::text)),
  -- Fewest shares of an LP, by time: [{ shares, activeFrom? }]. None: the smallest unit.
  lp_floor jsonb not null default '[]',
  primary key (chain_id, address),
  constraint vaults_id_key unique (id)
);
create index vaults_protocol_id_idx on vaults (protocol_id);
create trigger vaults_configuration after insert or delete on vaults for each row execute function note_configuration();
create trigger vaults_configuration_change after update on vaults for each row
  when ((old.address, old.kind, old.asset, old.asset_decimals, old.receipt_token, old.start_block, old.active_from, old.escrow,
    old.contracts, old.lp_floor)
    is distinct from
    (new.address, new.kind, new.asset, new.asset_decimals, new.receipt_token, new.start_block, new.active_from, new.escrow,
    new.contracts, new.lp_floor))
  execute function note_configuration();

-- What a vault answered at one block, all members read together; a row goes only with its block, so it names the block by
-- its hash, whether or not the raw store has that block. Without a foreign key: written often, and vaults stay. A vault has
-- one row a time: the last block of that time. Numbers and times of its rows grow together, so the key finds both.
create table vault_snapshots (
  block_number bigint not null,
  block_timestamp timestamptz not null,
  -- The observation that prices the asset at that time; null until there is one, then it stays.
  price_observation_id bigint,
  vault_id integer not null,
  -- The price of a share is price_numerator: convertToAssets(10^price_exponent).
  price_exponent smallint not null,
  total_assets numeric(78, 0) not null,
  total_supply numeric(78, 0) not null,
  price_numerator numeric(78, 0) not null,
  -- Its digits: US dollars of a whole unit of the asset.
  price_usd numeric,
  block_hash bytea not null check (length(block_hash) = 32),
  primary key (vault_id, block_timestamp)
);
-- Those that wait for a price.
create index vault_snapshots_unpriced_idx on vault_snapshots (vault_id, block_timestamp)
  where price_observation_id is null;
