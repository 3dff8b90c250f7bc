-- Owner: solver. Takes over: order_settlements. What a settlement that is queued will change: the pools it goes through
-- and what its owner sells, so that no later one is quoted and queued behind it; and how much of the order was filled
-- before, which tells that it is mined.
alter table order_settlements
  add column touches text[] not null default '{}',
  add column filled_before numeric(78, 0) not null default 0;
alter table order_settlements alter column touches drop default, alter column filled_before drop default;
