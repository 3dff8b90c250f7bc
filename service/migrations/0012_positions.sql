-- Owner: positions. All derived. `*_changes` keep every value before and after, one row per transaction, so that a
-- reorganisation restores the state and any block of the past can be read; `balances` and `lots` are the present.
-- A lot is the part of a balance that one distributor sourced; what is in no lot is unattributed. Totals of transfers have
-- no largest value: a token that claims more than it can hold must spoil its own figures only, not stop its chain.
-- Without foreign keys, by design: rows are written in bulk by the one process that holds the chain's cursor, and a rebuild
-- compares them all. What a rewind takes back it finds by an index on (chain_id, block_number). Addresses and hashes are
-- bytes (`hex_text` shows them).
-- Room for a holder's next balance beside the one before, so that its indexes stay as they are.
create table balances (
  chain_id bigint not null,
  first_block bigint not null,
  vault_id integer not null,
  wallet bytea not null,
  shares numeric not null check (shares >= 0),
  -- Part of `shares` that lies in lots.
  attributed numeric not null check (attributed >= 0 and attributed <= shares),
  primary key (vault_id, wallet)
) with (fillfactor = 90);
create index balances_wallet_idx on balances (wallet);

create table balance_changes (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  transaction_index integer not null,
  wallet bytea not null,
  before numeric not null,
  after numeric not null,
  attributed_before numeric not null,
  attributed_after numeric not null,
  primary key (vault_id, wallet, block_number, transaction_index)
);
create index balance_changes_block_idx on balance_changes (chain_id, block_number);
-- Wallets that began or ceased to hold: the steps of every count of holders.
create index balance_changes_edges_idx on balance_changes (vault_id, block_timestamp)
  where before = 0 or after = 0 or ((attributed_before = 0) <> (attributed_after = 0));

create table lots (
  chain_id bigint not null,
  first_block bigint not null,
  vault_id integer not null,
  wallet bytea not null,
  distributor_id text collate "C" not null,
  shares numeric not null check (shares >= 0),
  primary key (vault_id, wallet, distributor_id)
) with (fillfactor = 90);
create index lots_distributor_idx on lots (distributor_id, vault_id);
create index lots_wallet_idx on lots (wallet);

create table lot_changes (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  transaction_index integer not null,
  wallet bytea not null,
  distributor_id text collate "C" not null,
  before numeric not null,
  after numeric not null,
  primary key (vault_id, wallet, distributor_id, block_number, transaction_index)
);
create index lot_changes_block_idx on lot_changes (chain_id, block_number);
create index lot_changes_distributor_idx on lot_changes (distributor_id, vault_id, block_timestamp);

-- Asynchronous deposits (in assets) and redemptions (in shares), one row per request event, in order of arrival.
create table requests (
  id uuid primary key,
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  transaction_index integer not null,
  log_index integer not null,
  transaction_hash bytea not null,
  kind text not null check (kind in ('deposit', 'redeem')),
  controller bytea not null,
  -- Whose assets or shares it took.
  owner bytea not null,
  request_id numeric(78, 0) not null,
  distributor_id text collate "C",
  attribution text check (attribution in ('signed', 'unsigned', 'legacy')),
  -- Its plan swapped before it.
  is_swap boolean not null default false,
  amount numeric(78, 0) not null,
  -- What of it counts for the ledger, and the lots redeemed shares were of.
  counted numeric(78, 0) not null,
  lots text not null,
  remaining numeric(78, 0) not null check (remaining >= 0 and remaining <= amount),
  -- What a cancellation gave back.
  cancelled numeric(78, 0) not null default 0,
  cancelling boolean not null default false
);
-- The oldest request of a controller is served first.
create unique index requests_order_idx on requests (vault_id, controller, kind, block_number, log_index);
create index requests_block_idx on requests (chain_id, block_number);
create index requests_controller_idx on requests (controller);

create table request_changes (
  request_id uuid not null,
  chain_id bigint not null,
  block_number bigint not null,
  vault_id integer not null,
  log_index integer not null,
  remaining_before numeric(78, 0) not null,
  remaining_after numeric(78, 0) not null,
  cancelled_before numeric(78, 0) not null,
  cancelled_after numeric(78, 0) not null,
  cancelling_before boolean not null,
  cancelling_after boolean not null,
  primary key (request_id, block_number, log_index)
);
create index request_changes_block_idx on request_changes (chain_id, block_number);

-- Signatures of ours that counted in a vault, each once; those of orphaned blocks go.
create table used_signatures (
  chain_id bigint not null,
  block_number bigint not null,
  vault_id integer not null,
  -- EIP-712 digest.
  digest bytea not null,
  primary key (vault_id, digest)
);
create index used_signatures_block_idx on used_signatures (chain_id, block_number);

-- Where positions are derived again while the old ones are read. Without indexes but where a state that was let go is read
-- from: rows are compared as a whole in the end. Nobody vacuums or analyses meanwhile what is emptied in the end.
create unlogged table rebuilt_balances (like balances) with (autovacuum_enabled = off);
create unique index rebuilt_balances_key on rebuilt_balances (vault_id, wallet);
create unlogged table rebuilt_lots (like lots) with (autovacuum_enabled = off);
create unique index rebuilt_lots_key on rebuilt_lots (vault_id, wallet, distributor_id);
create unlogged table rebuilt_balance_changes (like balance_changes) with (autovacuum_enabled = off);
create unlogged table rebuilt_lot_changes (like lot_changes) with (autovacuum_enabled = off);
create unlogged table rebuilt_requests (like requests) with (autovacuum_enabled = off);
create unique index rebuilt_requests_key on rebuilt_requests (id);
create index rebuilt_requests_order_idx on rebuilt_requests (vault_id, controller, kind, block_number, log_index);
create unlogged table rebuilt_request_changes (like request_changes) with (autovacuum_enabled = off);
create unlogged table rebuilt_used_signatures (like used_signatures) with (autovacuum_enabled = off);
create unique index rebuilt_used_signatures_key on rebuilt_used_signatures (vault_id, digest);

-- Observations: of requests that claims of a block may be of, what the vault answered of each at the block and
-- at its parent, pending and claimable together; null where nobody answered. Removed only with an orphaned block.
create table request_readings (
  chain_id bigint not null,
  block_number bigint not null,
  vault bytea not null check (length(vault) = 20),
  kind text not null check (kind in ('deposit', 'redeem')),
  controller bytea not null check (length(controller) = 20),
  request_id numeric(78, 0) not null,
  before numeric(78, 0),
  after numeric(78, 0),
  primary key (chain_id, block_number, vault, kind, controller, request_id)
);

-- What of a wallet's moves went beyond the balance its Transfers make, and was cut: of a share
-- that rebases, or of a vault that is read from too late a block on. One row per transaction and wallet.
create table cut_moves (
  chain_id bigint not null,
  block_number bigint not null,
  vault_id integer not null,
  transaction_index integer not null,
  wallet bytea not null,
  amount numeric not null check (amount > 0),
  primary key (vault_id, block_number, transaction_index, wallet)
);
create index cut_moves_block_idx on cut_moves (chain_id, block_number);

create unlogged table rebuilt_cut_moves (like cut_moves) with (autovacuum_enabled = off);

-- Which account owns the 256 that share its first 19 bytes, as a declared forwarder registered it
-- (Euler's connector: OwnerRegistered). The first registration of a forwarder stays.
create table sub_account_owners (
  chain_id bigint not null,
  block_number bigint not null,
  forwarder bytea not null,
  prefix bytea not null,
  owner bytea not null,
  primary key (chain_id, forwarder, prefix)
);
create index sub_account_owners_block_idx on sub_account_owners (chain_id, block_number);

create unlogged table rebuilt_sub_account_owners (like sub_account_owners) with (autovacuum_enabled = off);
create unique index rebuilt_sub_account_owners_key on rebuilt_sub_account_owners (chain_id, forwarder, prefix);
