-- Owner: rpc. What a transaction may cost travels with it, and why one waits is told in a word.
-- The most it may cost, in the smallest unit of the native token. What was queued before has no cap of its own: the day's holds.
alter table outgoing_transactions add column cost_max numeric(78, 0) not null
  default 115792089237316195423570985008687907853269984665640564039457584007913129639935 check (cost_max >= 0);
alter table outgoing_transactions alter column cost_max drop default;
-- Why a queued transaction is not sent now: what it would cost, what its key holds, what is left of the day.
alter table outgoing_transactions add column held text check (held in ('tooDear', 'noFunds', 'dayBudget'));
