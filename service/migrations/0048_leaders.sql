-- Owner: sync. Facts of this installation: which holder of a lock is the last one. A lock is a session's, and a session may be lost
-- without its process noticing; so whoever takes a lock leaves a token here, and each write of the holder compares it.
create table leaders (
  -- The lock: `watcher` or `solver`.
  role text not null,
  chain_id bigint not null,
  token uuid not null,
  taken_at timestamptz not null default now(),
  primary key (role, chain_id)
);
