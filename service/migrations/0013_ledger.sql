-- Owner: ledger. `interactions`, `interaction_counts` and `transaction_attributions` are derived, so without foreign keys
-- to vaults; a row of the last with `retracted` set, and `retractions`, are records of orphaned blocks and stay;
-- `price_choices` are observations.
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
  -- Whole units of the asset, for sorting; null where the vault was not what is configured, so that nobody knows of which
  -- token they are.
  amount numeric,
  is_swap boolean not null,
  amount_usd numeric,
  -- Without a foreign key: `price_choices` has it, and an entry takes its observation from there.
  price_observation_id bigint,
  -- Several wallets may keep parts of what one event minted. A chain's blocks stand here once a height.
  constraint interactions_event_key unique (chain_id, block_number, log_index, distributor_id, wallet)
);
create index interactions_transaction_idx on interactions (transaction_hash, chain_id);
-- What stands behind the orders of the ledger's lists, the primary key among them: ids are hashes, so that the entries of
-- any value lie evenly in their order. Entries of one instant are few and are ordered as they come.
create index interactions_kind_idx on interactions (kind, block_timestamp);
create index interactions_vault_idx on interactions (vault_id, block_timestamp);
create index interactions_distributor_idx on interactions (distributor_id, block_timestamp);
create index interactions_wallet_idx on interactions (wallet, id);
create index interactions_amount_idx on interactions (amount, id);
-- Also finds a vault's entries that wait for a price.
create index interactions_usd_idx on interactions (amount_usd, vault_id, block_timestamp);

-- How many entries there are of each kind: totals of lists, and where in an order a value's entries begin. Written in
-- the transaction that writes or removes the entries; no row where there are none.
create table interaction_counts (
  chain_id bigint not null,
  vault_id integer not null,
  distributor_id text collate "C" not null,
  kind text not null,
  entries bigint not null check (entries > 0),
  primary key (chain_id, vault_id, distributor_id, kind)
) with (fillfactor = 70);

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

-- Where the ledger is derived again while the old one is read.
create unlogged table rebuilt_interactions (like interactions) with (autovacuum_enabled = off);
create unlogged table rebuilt_interaction_counts (like interaction_counts) with (autovacuum_enabled = off);
create unlogged table rebuilt_transaction_attributions (like transaction_attributions) with (autovacuum_enabled = off);
create unique index rebuilt_transaction_attributions_key
  on rebuilt_transaction_attributions (chain_id, block_hash, transaction_hash);
-- What GetAction finds the transactions of an action by.
create index transaction_attributions_action_idx on transaction_attributions (action_id, chain_id)
  where action_id is not null;
