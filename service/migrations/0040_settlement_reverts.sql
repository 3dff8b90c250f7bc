-- Reverted settlements count also where they were not risky.
drop index order_settlements_risky_idx;
create index order_settlements_counted_idx on order_settlements (chain_id, closed_at)
  where is_risky or outcome = 'reverted';
