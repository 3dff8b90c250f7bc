-- Owner: positions. All derived, so without foreign keys: they are written in bulk by the process that owns the chain, and
-- a rebuild compares them. `*_changes` keep every value before and after, one row per transaction, so that a
-- reorganisation restores the state and any block of the past can be read; `balances` and `lots` are the present.
-- A lot is the part of a balance that one distributor sourced; what is in no lot is unattributed. Totals of transfers have
-- no largest value: a token that claims more than it can hold must spoil its own figures only, not stop its chain.
create table balances (
  vault_id integer not null,
  wallet text collate "C" not null,
  shares numeric not null check (shares >= 0),
  -- Part of `shares` that lies in lots.
  attributed numeric not null check (attributed >= 0 and attributed <= shares),
  first_block bigint not null,
  primary key (vault_id, wallet)
);
create index balances_wallet_idx on balances (wallet);

create table balance_changes (
  vault_id integer not null,
  wallet text collate "C" not null,
  block_number bigint not null,
  transaction_index integer not null,
  block_timestamp timestamptz not null,
  before numeric not null,
  after numeric not null,
  attributed_before numeric not null,
  attributed_after numeric not null,
  primary key (vault_id, wallet, block_number, transaction_index)
);
-- Rows come in the order of blocks, so the smallest index finds those above a block.
create index balance_changes_block_idx on balance_changes using brin (block_number) with (pages_per_range = 16);
-- Wallets that began or ceased to hold: the steps of every count of holders.
create index balance_changes_edges_idx on balance_changes (vault_id, block_timestamp)
  where before = 0 or after = 0 or ((attributed_before = 0) <> (attributed_after = 0));

create table lots (
  vault_id integer not null,
  wallet text collate "C" not null,
  distributor_id text collate "C" not null,
  shares numeric not null check (shares >= 0),
  first_block bigint not null,
  primary key (vault_id, wallet, distributor_id)
);
create index lots_distributor_idx on lots (distributor_id, vault_id);
create index lots_wallet_idx on lots (wallet);

create table lot_changes (
  vault_id integer not null,
  wallet text collate "C" not null,
  distributor_id text collate "C" not null,
  block_number bigint not null,
  transaction_index integer not null,
  block_timestamp timestamptz not null,
  before numeric not null,
  after numeric not null,
  primary key (vault_id, wallet, distributor_id, block_number, transaction_index)
);
create index lot_changes_block_idx on lot_changes using brin (block_number) with (pages_per_range = 16);
create index lot_changes_distributor_idx on lot_changes (distributor_id, vault_id, block_timestamp);

-- Asynchronous deposits (in assets) and redemptions (in shares), one row per request event, in order of arrival.
create table requests (
  id uuid primary key,
  vault_id integer not null,
  kind text not null check (kind in ('deposit', 'redeem')),
  controller text collate "C" not null,
  owner text collate "C" not null,
  request_id numeric(78, 0) not null,
  distributor_id text collate "C",
  attribution text check (attribution in ('signed', 'unsigned', 'legacy')),
  amount numeric(78, 0) not null,
  remaining numeric(78, 0) not null check (remaining >= 0 and remaining <= amount),
  -- What a cancellation gave back.
  cancelled numeric(78, 0) not null default 0,
  cancelling boolean not null default false,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  transaction_index integer not null,
  log_index integer not null,
  transaction_hash text collate "C" not null
);
create unique index requests_order_idx on requests (vault_id, controller, kind, block_number, log_index);
create index requests_block_idx on requests (vault_id, block_number);
create index requests_controller_idx on requests (controller);

create table request_changes (
  request_id uuid not null,
  vault_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  remaining_before numeric(78, 0) not null,
  remaining_after numeric(78, 0) not null,
  cancelled_before numeric(78, 0) not null,
  cancelled_after numeric(78, 0) not null,
  cancelling_before boolean not null,
  cancelling_after boolean not null,
  primary key (request_id, block_number, log_index)
);
create index request_changes_block_idx on request_changes (vault_id, block_number);

-- Signatures of ours that counted in a vault, each once; those of orphaned blocks go.
create table used_signatures (
  vault_id integer not null,
  -- EIP-712 digest, 0x text.
  digest text collate "C" not null,
  block_number bigint not null,
  primary key (vault_id, digest)
);
create index used_signatures_block_idx on used_signatures using brin (block_number) with (pages_per_range = 16);
