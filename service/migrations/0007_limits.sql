-- Limits. `budgets` holds what each key has used of its hour and its month: one row a key, one statement a charge.
-- `idempotency_keys` holds the answers to requests that named an Idempotency-Key, for 24 hours, and who is working on
-- one. Both are our own state; neither can be recomputed.
create table budgets (
  key_id uuid primary key references api_keys (id) on delete cascade,
  -- Starts of the UTC hour and the UTC calendar month the counts belong to. They never move backwards.
  hour_at timestamptz not null,
  hour_used bigint not null check (hour_used >= 0),
  month_at timestamptz not null,
  month_used bigint not null check (month_used >= 0)
) with (fillfactor = 50);

create table idempotency_keys (
  organization_id uuid not null references organizations (id) on delete cascade,
  key text not null,
  -- SHA-256 of the operation and its whole input.
  fingerprint bytea not null,
  -- Whose turn it is: one random id for each time a request takes the key.
  turn uuid not null,
  -- A request that has not answered by then is taken for dead.
  leased_until timestamptz not null,
  expires_at timestamptz not null,
  -- The answer; null while a request is being worked on.
  status integer,
  body text,
  primary key (organization_id, key),
  check ((status is null) = (body is null))
);
create index idempotency_keys_expires_at_idx on idempotency_keys (expires_at);
