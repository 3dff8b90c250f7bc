-- Owner: paid. `share_readings` are observations; `share_reading_gaps` and `share_reading_progress` are records of what was
-- asked; `rules_versions` is configuration, noted once by the update that brings a version.

-- The price of a share at the block of a mint that names none, as the vault answered it: price_numerator is
-- convertToAssets(10^price_exponent). Removed only with an orphaned block. Without a foreign key: vaults stay.
create table share_readings (
  vault_id integer not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  block_hash bytea not null check (length(block_hash) = 32),
  price_numerator numeric(78, 0) not null,
  price_exponent smallint not null,
  primary key (vault_id, block_number)
);

-- Blocks that had to be read and could not be. They are tried again.
create table share_reading_gaps (
  vault_id integer not null references vaults (id) on delete cascade,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  block_hash bytea not null check (length(block_hash) = 32),
  reason text not null,
  tried_at timestamptz not null,
  primary key (vault_id, block_number)
);
create index share_reading_gaps_tried_idx on share_reading_gaps (tried_at);

-- Up to which mint it is known which blocks of a vault are to be read, and the snapshot that came before that mint.
create table share_reading_progress (
  vault_id integer primary key references vaults (id) on delete cascade,
  checked_to bigint not null,
  checked_at timestamptz not null,
  -- -1: none.
  since_block bigint not null,
  -- When all mints were looked at for the last time.
  whole_at timestamptz not null
);

-- From which instant of chain time a version of the rules holds. Version 1 held before.
create table rules_versions (
  version integer primary key check (version > 1),
  holds_from timestamptz not null
);
-- An installation that has figures keeps their rule for the month that has begun; a new one has none to keep.
insert into rules_versions (version, holds_from)
select 2, case when exists (select from vaults)
  then (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
  else to_timestamp(0) end;
