-- Owner: events. `outbox` and `feed` are records of what was told to others, which nothing derives again. An event is written
-- to `outbox` in the transaction that makes its fact. One statement then moves it to `feed` and gives it a position.
create table outbox (
  -- The order in which the events of one subject are told: its row was written or locked before.
  id bigint generated always as identity primary key,
  event_id uuid not null,
  type text collate "C" not null,
  told_at timestamptz not null,
  chain_id bigint,
  late boolean not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  -- The organization that alone sees it; null: every key sees it.
  organization_id uuid,
  data json not null
);

-- Rows are inserted and pruned by age, never changed. Positions have no gap.
create table feed (
  position bigint primary key,
  event_id uuid not null,
  type text collate "C" not null,
  told_at timestamptz not null,
  chain_id bigint,
  late boolean not null,
  subject_kind text collate "C" not null,
  subject_id text collate "C" not null,
  organization_id uuid,
  data json not null
);

-- The position of the last event. Whoever moves events locks this row first, so positions commit in their order.
create table feed_end (
  is_only boolean primary key default true check (is_only),
  position bigint not null
);
insert into feed_end (position) values (0);
