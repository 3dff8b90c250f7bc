-- A single amount of a log is below 2^256; their sum need not be. A token that claims more than it can hold must spoil its
-- own figures only, so totals of transfers have no largest value: else one vault would stop its chain.
alter table balances alter shares type numeric, alter attributed type numeric;
alter table balance_changes alter before type numeric, alter after type numeric, alter attributed_before type numeric,
  alter attributed_after type numeric;
alter table lots alter shares type numeric;
alter table lot_changes alter before type numeric, alter after type numeric;
