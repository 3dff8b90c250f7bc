-- Owner: solver. `order_settlements` says more of itself: whose it is, the most it may cost, and how it ended at what cost, so
-- that what was lost is counted by order, owner, organization and pool. `settlement_failures` are counts of tries in vain.
alter table order_settlements
  add column chain_id bigint references chains (chain_id),
  add column owner text,
  add column organization_id uuid references organizations (id),
  -- It may end as a loss: nobody vouches for what it runs, or it was mined and reverted.
  add column is_risky boolean not null default false,
  -- The operator lists its tokens: a fill is no loss.
  add column is_listed boolean not null default true,
  -- In the smallest unit of the native token, as what it cost.
  add column cost_max numeric(78, 0) not null default 0,
  add column outcome text check (outcome in ('confirmed', 'reverted', 'cancelled', 'failed')),
  add column cost numeric(78, 0),
  -- The chain's time at the look that saw its end.
  add column closed_at timestamptz;
update order_settlements s set chain_id = o.chain_id, owner = o.owner, organization_id = o.organization_id
from swap_orders o where o.id = s.order_id;
alter table order_settlements
  alter column chain_id set not null, alter column owner set not null, alter column organization_id set not null,
  alter column is_risky drop default, alter column is_listed drop default, alter column cost_max drop default;
create index order_settlements_chain_id_idx on order_settlements (chain_id, created_at, id);
create index order_settlements_risky_idx on order_settlements (chain_id, closed_at) where is_risky;
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
