-- Owner: orders. `swap_orders` are records of what callers asked for and signed; `followed_settlements` says since when the events of a settlement contract are read; `order_events` is
-- derived of what these contracts emitted for our orders.

-- A sell order of a settlement contract (GPv2). It is signed as it stands here: its receiver is its owner, its fee is 0.
create table swap_orders (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  distributor_id text not null references distributors (id),
  opportunity_id uuid references opportunities (id),
  chain_id bigint not null references chains (chain_id),
  settlement text not null check (settlement = lower(settlement)),
  -- Who takes the token that is sold: it is approved for this contract.
  relayer text not null check (relayer = lower(relayer)),
  -- EIP-712 digest, owner and expiry: what the events of the settlement contract name it by.
  uid bytea not null unique check (length(uid) = 56),
  owner text not null check (owner = lower(owner)),
  token_in text not null check (token_in = lower(token_in)),
  token_out text not null check (token_out = lower(token_out)),
  amount_in numeric(78, 0) not null check (amount_in > 0),
  min_amount_out numeric(78, 0) not null check (min_amount_out > 0),
  partially_fillable boolean not null,
  -- The text whose hash is signed with the order.
  app_data text not null,
  app_data_hash bytea not null check (length(app_data_hash) = 32),
  expires_at timestamptz not null check (date_trunc('second', expires_at) = expires_at),
  -- Absent until it is submitted.
  signature bytea,
  scheme text check (scheme in ('eip712', 'eip1271')),
  venue text check (venue in ('local', 'cow')),
  submitted_at timestamptz,
  -- Since when, and in how many looks in a row, the owner's balance or allowance was too small.
  lacking_since timestamptz,
  lacking_looks integer not null default 0 check (lacking_looks >= 0),
  -- When we stopped to look, and why.
  failed_at timestamptz,
  failure text,
  created_at timestamptz not null,
  check (num_nulls(signature, scheme, venue, submitted_at) in (0, 4)),
  check (num_nulls(failed_at, failure) in (0, 2))
);
create index swap_orders_organization_id_idx on swap_orders (organization_id, created_at);
create index swap_orders_distributor_id_idx on swap_orders (distributor_id);
create index swap_orders_opportunity_id_idx on swap_orders (opportunity_id);
create index swap_orders_chain_id_idx on swap_orders (chain_id, expires_at);

create table followed_settlements (
  chain_id bigint not null references chains (chain_id),
  address text not null check (address = lower(address)),
  -- No block below it can hold an event of an order of ours.
  from_block bigint not null check (from_block >= 0),
  primary key (chain_id, address)
);
create trigger followed_settlements_configuration after insert or delete or update on followed_settlements for each row
  execute function note_configuration();

-- `amount_in` was taken and `amount_out` paid by a trade; an invalidation moves nothing.
create table order_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  log_index integer not null,
  order_id uuid not null,
  kind text not null check (kind in ('trade', 'invalidated')),
  transaction_hash bytea not null,
  amount_in numeric(78, 0) not null,
  amount_out numeric(78, 0) not null,
  primary key (chain_id, block_number, log_index)
);
create index order_events_order_idx on order_events (order_id, block_number, log_index);
create unlogged table rebuilt_order_events (like order_events) with (autovacuum_enabled = off);
create unique index rebuilt_order_events_key on rebuilt_order_events (chain_id, block_number, log_index);

-- What came of telling an order book of an order: it has it, or when it is told again and what it said.
create table order_deliveries (
  order_id uuid primary key references swap_orders (id),
  tries integer not null check (tries >= 1),
  accepted_at timestamptz,
  next_at timestamptz not null,
  note text,
  check ((accepted_at is null) = (note is not null))
);

-- Observations: what our solver made of an order, one row each time that changes, the newest 20 of an order.
create table order_attempts (
  order_id uuid not null references swap_orders (id) on delete cascade,
  number integer not null check (number >= 1),
  -- The chain's time.
  at timestamptz not null,
  outcome text not null check (outcome in ('considered', 'tooDear', 'noRoute', 'unfunded', 'reverted', 'filled')),
  detail text not null,
  primary key (order_id, number)
);
create index swap_orders_unsigned_idx on swap_orders (expires_at) where submitted_at is null;
