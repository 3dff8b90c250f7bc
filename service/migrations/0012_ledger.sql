-- Owner: ledger. `interactions` and `transaction_attributions` are derived, so without foreign keys to vaults;
-- a row of the latter with `retracted` set, and `retractions`, are records of orphaned blocks and stay; `price_choices` are
-- observations.
create table interactions (
  id uuid primary key,
  chain_id bigint not null,
  vault_id integer not null,
  kind text not null check (kind in ('deposit', 'withdraw')),
  block_number bigint not null,
  block_hash text collate "C" not null,
  block_timestamp timestamptz not null,
  transaction_hash text collate "C" not null,
  transaction_index integer not null,
  log_index integer not null,
  wallet text collate "C" not null,
  distributor_id text collate "C" not null,
  attribution text not null check (attribution in ('signed', 'unsigned', 'legacy')),
  assets numeric(78, 0) not null,
  shares numeric(78, 0) not null,
  -- Whole units of the asset, for sorting.
  amount numeric not null,
  is_swap boolean not null,
  amount_usd numeric,
  price_observation_id bigint references price_observations (id),
  -- Several wallets may keep parts of what one event minted.
  constraint interactions_event_key unique (chain_id, block_hash, transaction_hash, log_index, distributor_id, wallet)
);
create index interactions_block_idx on interactions (chain_id, block_number);
create index interactions_transaction_idx on interactions (transaction_hash, chain_id);
create index interactions_price_observation_id_idx on interactions (price_observation_id);
-- Entries that wait for a price.
create index interactions_unpriced_idx on interactions (vault_id, block_timestamp) where price_observation_id is null;
-- What stands behind the orders of the ledger's lists. Equal entries are in ascending order of id in both directions: where
-- many are equal, lists walk one value after the other, by id within each.
create index interactions_date_idx on interactions (block_timestamp, chain_id, block_number, log_index, id);
create index interactions_vault_idx on interactions (vault_id, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_vault_id_idx on interactions (vault_id, id);
create index interactions_distributor_idx
  on interactions (distributor_id, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_distributor_id_idx on interactions (distributor_id, id);
-- A distributor's entries by opportunity: without it, vaults that hold none of them would be read from end to end.
create index interactions_vault_distributor_idx on interactions (vault_id, distributor_id, id);
create index interactions_wallet_idx on interactions (wallet, id);
create index interactions_amount_idx on interactions (amount, id);
create index interactions_kind_idx on interactions (kind, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_kind_id_idx on interactions (kind, id);
create index interactions_usd_idx on interactions (amount_usd, id);
-- The entries without a price come last in both directions, so descending needs an index of its own.
create index interactions_usd_desc_idx on interactions (amount_usd desc nulls last, id);

-- Which observation prices what a block's entries moved of a token. It is chosen once, so that whatever is derived again
-- has the same digits, whenever a price came. A row goes only with its orphaned block. No row: not chosen yet, because
-- there was no observation by then.
create table price_choices (
  chain_id bigint not null,
  address text collate "C" not null,
  block_number bigint not null,
  block_hash text collate "C" not null,
  price_observation_id bigint not null references price_observations (id),
  primary key (chain_id, address, block_hash)
);
create index price_choices_block_idx on price_choices (chain_id, block_number);
create index price_choices_price_observation_id_idx on price_choices (price_observation_id);

-- Entries a reorganisation took back.
create table retractions (
  interaction_id uuid primary key,
  reorg_id bigint not null references chain_reorgs (id),
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  transaction_hash text not null,
  log_index integer not null,
  distributor_id text not null,
  kind text not null,
  wallet text not null,
  assets numeric(78, 0) not null
);
create index retractions_reorg_id_idx on retractions (reorg_id);
create index retractions_transaction_idx on retractions (transaction_hash);

-- What the calldata of a transaction says of who brought it, one row per transaction with an event of a vault that can
-- carry attribution.
create table transaction_attributions (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  transaction_index integer not null,
  retracted boolean not null default false,
  signature_valid boolean,
  block_hash bytea not null,
  transaction_hash bytea not null,
  sender bytea not null,
  target bytea,
  distributor_id text collate "C",
  codes text[] not null,
  schema text,
  -- Which of our actions the transaction carries, where a key of ours signed its suffix. A retracted row keeps it, so that
  -- the action of a transaction the chain took back can still be named.
  action_id uuid,
  -- Why something the transaction's calldata says does not count.
  problems text[] not null default '{}',
  primary key (chain_id, block_hash, transaction_hash)
);
create index transaction_attributions_transaction_idx on transaction_attributions (transaction_hash, chain_id);
create index transaction_attributions_block_idx on transaction_attributions (chain_id, block_number) where not retracted;
