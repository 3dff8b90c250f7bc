-- Owner: vaults. How far the grids of vaults are read: records of what was asked, so that nothing is missed in silence.

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
