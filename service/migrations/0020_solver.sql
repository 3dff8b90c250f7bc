-- Owner: solver. `order_settlements` are records of what our solver queued for orders, and how each ended at what cost: losses
-- are counted by order, owner, organization and pool. `settlement_failures` are counts of tries in vain.

-- Settlements of our own order book, by the id of their transaction in the queue of the sender. One of an order is open at
-- a time: so long no other is queued.
create table order_settlements (
  id uuid primary key,
  order_id uuid not null references swap_orders (id),
  attempt integer not null check (attempt >= 1),
  amount_in numeric(78, 0) not null check (amount_in > 0),
  amount_out numeric(78, 0) not null check (amount_out > 0),
  is_open boolean not null default true,
  created_at timestamptz not null,
  -- The pools it goes through and what its owner sells, so that no later one is quoted and queued behind it.
  touches text[] not null,
  -- How much of the order was filled before, which tells that it is mined.
  filled_before numeric(78, 0) not null,
  chain_id bigint not null references chains (chain_id),
  owner text not null,
  organization_id uuid not null references organizations (id),
  -- Nobody vouches for its tokens or for the code that runs.
  is_risky boolean not null,
  -- The operator lists its tokens: a fill is no loss.
  is_listed boolean not null,
  -- In the smallest unit of the native token, as what it cost.
  cost_max numeric(78, 0) not null,
  outcome text check (outcome in ('confirmed', 'reverted', 'cancelled', 'failed')),
  cost numeric(78, 0),
  -- The chain's time at the look that saw its end.
  closed_at timestamptz,
  unique (order_id, attempt)
);
create unique index order_settlements_open_idx on order_settlements (order_id) where is_open;
create index order_settlements_chain_id_idx on order_settlements (chain_id, created_at, id);
-- What counts against somebody.
create index order_settlements_counted_idx on order_settlements (chain_id, closed_at)
  where is_risky or outcome = 'reverted';
create index order_settlements_organization_id_idx on order_settlements (organization_id);

-- Tries in vain of an order (`order ID`), or of an owner, an organization or a pool: one row each, whatever failed and
-- however often. A fill takes it away; a day after the last one it counts for nothing.
create table settlement_failures (
  chain_id bigint not null references chains (chain_id),
  subject text not null,
  failures integer not null check (failures >= 1),
  -- By the chain's time.
  last_at timestamptz not null,
  primary key (chain_id, subject)
);
create index settlement_failures_last_at_idx on settlement_failures (chain_id, last_at);
