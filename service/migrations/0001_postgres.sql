-- Owner: postgres. `settings` holds facts about this installation (configuration, one row a name).
create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null default now()
);
