-- Owner: positions. Deposits that may be given back for a time are kept among the requests, under their own kind: whose they are is known by it. A
-- request of a redemption may say with how much it is to be paid.
alter table requests drop constraint requests_kind_check;
alter table requests add constraint requests_kind_check check (kind in ('deposit', 'redeem', 'refund'));
alter table requests add column promised numeric(78, 0);
alter table rebuilt_requests add column promised numeric(78, 0);
