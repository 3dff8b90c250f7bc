-- Owner: snapshots. `vault_snapshots` and `vault_identities` are observations; `snapshot_progress` and `snapshot_gaps` are
-- records of what was asked, so that nothing is missed in silence.

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
comment on table vault_snapshots is 'What a vault answered at one block of its grid.';

-- The newest instant of its grid a vault was read for as it came. No row: not yet.
create table snapshot_progress (
  vault_id integer primary key references vaults (id) on delete cascade,
  seen_to timestamptz not null
);

-- Instants of a vault's grid that are still to be read, newest first: its past when it is listed, and what was missed.
-- `to_at` moves down as they are read; the row goes with the last one.
create table snapshot_gaps (
  vault_id integer not null references vaults (id) on delete cascade,
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Where `to_at` began, and when: what has been done since says how long the rest takes.
  opened_to timestamptz not null,
  opened_at timestamptz not null,
  read_at timestamptz,
  -- Why it could not be read at the last look; it is looked at again.
  reason text,
  tried_at timestamptz,
  primary key (vault_id, from_at),
  check (from_at <= to_at)
);
create index snapshot_gaps_to_at_idx on snapshot_gaps (to_at);

-- Which asset and share token a vault named at a block, and the decimals these said then, null
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
