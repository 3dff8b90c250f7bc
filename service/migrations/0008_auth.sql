-- Owner: auth. API keys are configuration. Only the SHA-256 of a key is kept.
create table api_keys (
  id uuid primary key,
  hash bytea not null unique,
  kind text not null check (kind in ('publishable', 'secret')),
  -- First 12 and last 4 characters, to recognise a key by.
  hint text not null,
  name text not null default '',
  organization_id uuid not null references organizations (id),
  distributor_id text references distributors (id),
  permissions text[] not null default '{}',
  origins text[] not null default '{}',
  hourly_units bigint not null default 10000 check (hourly_units >= 0),
  monthly_units bigint check (monthly_units >= 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- The share of a publishable key's hour that one client address may use.
  address_share numeric(5, 4) not null default 1
    check (address_share > 0 and address_share <= 1 and (kind = 'publishable' or address_share = 1))
);
create index api_keys_organization_id_idx on api_keys (organization_id);
create index api_keys_distributor_id_idx on api_keys (distributor_id);
