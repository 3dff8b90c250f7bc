-- How much gas a transaction may be given: the chain's own cap (null: that of EIP-7825), and whether what posting to
-- another chain costs is part of it.
alter table chains
  add column transaction_gas_cap bigint check (transaction_gas_cap >= 1000000),
  add column l1_gas_in_limit boolean not null default false;
