-- Owner: events. Webhooks are configuration of organizations; `webhook_queue` are events on their way to them, and
-- `webhook_attempts` records of what became of each try.
create table webhooks (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  url text not null,
  -- Empty: events of all types.
  types text[] not null,
  -- Events of the past too.
  late boolean not null,
  enabled boolean not null default true,
  disabled_reason text not null default '',
  created_at timestamptz not null,
  last_delivery_at timestamptz,
  -- Tries that failed since the last one that did not, and since when.
  failing integer not null default 0,
  failing_since timestamptz,
  -- Events of the feed up to here are in the queue, were delivered, or are not for it.
  position bigint not null,
  -- Sealed with the key of the installation; the secret before it counts until `before_until`.
  secret bytea not null,
  secret_before bytea,
  before_until timestamptz,
  -- Tries in one second, so that all processes together keep to the rate.
  second bigint not null default 0,
  tries integer not null default 0
);
create index webhooks_organization_id_idx on webhooks (organization_id);

create table webhook_queue (
  webhook_id uuid not null references webhooks (id) on delete cascade,
  position bigint not null,
  event_id uuid not null,
  subject text collate "C" not null,
  -- No earlier event of its subject is before it: only these are tried, so that a subject's events arrive in order.
  is_head boolean not null,
  is_replay boolean not null,
  -- Given up: it stays as a record, and later events of its subject go on.
  is_dead boolean not null default false,
  attempt integer not null default 0,
  run_at timestamptz not null,
  -- A process tries it until then; another may, afterwards.
  leased_until timestamptz,
  primary key (webhook_id, position)
);
create index webhook_queue_subject_idx on webhook_queue (webhook_id, subject, position) where not is_dead;
create index webhook_queue_due_idx on webhook_queue (webhook_id, is_replay, run_at) where is_head;
create index webhook_queue_lease_idx on webhook_queue (webhook_id, leased_until) where leased_until is not null;

create table webhook_attempts (
  id uuid primary key,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  event_id uuid not null,
  attempt integer not null,
  at timestamptz not null,
  -- The HTTP status; null where no answer came.
  status integer,
  duration_ms integer not null,
  error text not null
);
create index webhook_attempts_webhook_id_idx on webhook_attempts (webhook_id, at desc, id);
create index webhook_attempts_at_idx on webhook_attempts (at);
