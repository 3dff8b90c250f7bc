-- Owner: streams. Observations: the roots that the stored facts and each node come to, for the instant of a root that is to be
-- committed or stands on the chain. They are kept for a week; a rebuild does not touch them.
create table stream_root_readings (
  stream_id uuid not null references streams (id) on delete cascade,
  root_at timestamptz not null,
  root bytea not null check (length(root) = 32),
  total numeric(78, 0) not null,
  source text not null,
  kind text not null check (kind in ('stored', 'node')),
  -- Whether the source could tell; without that there is no counted root. The root is null where nobody has earned a unit.
  is_told boolean not null,
  counted bytea check (length(counted) = 32),
  counted_total numeric(78, 0) check ((counted_total is not null) = is_told),
  problems text[] not null,
  -- When the source came to this result first, without another in between.
  since timestamptz not null,
  read_at timestamptz not null,
  primary key (stream_id, root_at, root, total, source)
);
