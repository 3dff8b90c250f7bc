-- Owner: status. Reconciliation: what samples of balances said when compared with the chain. Observations; the newest
-- look replaces the one before.
create table vault_drift (
  vault_id integer primary key,
  checked_at timestamptz not null,
  block_number bigint not null,
  samples integer not null,
  mismatches integer not null
);
