-- Owner: orders. The state of an order that its organization was told of last, as `status:filledIn:attempt`; null: of none yet. An
-- order that was told filled, cancelled or expired has no more to tell.
alter table swap_orders add column told text;
alter table swap_orders add column told_all boolean not null default false;
-- The past of an installation is not told.
update swap_orders set told_all = true where submitted_at is not null;
create index swap_orders_untold_idx on swap_orders (submitted_at) where submitted_at is not null and not told_all;
