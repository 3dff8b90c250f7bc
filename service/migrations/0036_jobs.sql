-- Owner: status. Work that runs again and again, one row for each that the processes of this installation share. A process
-- takes a row by a lease that it renews while it works, so that one of them does the work and another goes on where it died.
-- Times are the database's: the clocks of the processes' machines may differ.
create table jobs (
  name text not null,
  chains bigint[] not null,
  every_seconds numeric not null check (every_seconds > 0),
  run_at timestamptz not null,
  holder uuid,
  leased_until timestamptz,
  attempts integer not null default 0 check (attempts >= 0),
  started_at timestamptz,
  ended_at timestamptz,
  failed_since timestamptz,
  error text not null default '',
  primary key (name, chains),
  check ((holder is null) = (leased_until is null))
);
comment on table jobs is 'Work shared by the processes of this installation, with its leases and failures; see docs/runbook.md';
comment on column jobs.chains is 'The chains that its process serves, in order: processes with other chains have rows of their own';
comment on column jobs.attempts is 'Runs begun since the last one that ended well, the present one included';
comment on column jobs.ended_at is 'When a run last ended well';
