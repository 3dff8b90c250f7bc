-- Owner: orders. Observations: what our solver made of an order, one row each time that changes, the newest 20 of an order.
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
