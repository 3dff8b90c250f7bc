-- The ledger and what was watched. `interactions` and `watched` are derived; a `watched` row with `retracted` set, and
-- `retractions`, are records of orphaned blocks and stay; `interaction_prices` are observations.
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
  unique (chain_id, block_hash, transaction_hash, log_index, distributor_id)
);
create index interactions_date_idx on interactions (block_timestamp, chain_id, block_number, log_index, id);
create index interactions_block_idx on interactions (chain_id, block_number);
create index interactions_vault_idx on interactions (vault_id, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_distributor_idx
  on interactions (distributor_id, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_wallet_idx on interactions (wallet, id);
create index interactions_amount_idx on interactions (amount, id);
create index interactions_usd_idx on interactions (amount_usd, id);
create index interactions_kind_idx on interactions (kind, block_timestamp, chain_id, block_number, log_index, id);
create index interactions_transaction_idx on interactions (transaction_hash, chain_id);
create index interactions_price_observation_id_idx on interactions (price_observation_id);

-- The price an entry was first given; an entry never changes its price.
create table interaction_prices (
  interaction_id uuid primary key,
  price_observation_id bigint not null references price_observations (id)
);
create index interaction_prices_price_observation_id_idx on interaction_prices (price_observation_id);

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

-- One row per transaction with an event of a vault that can carry attribution.
create table watched (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text collate "C" not null,
  block_timestamp timestamptz not null,
  transaction_hash text collate "C" not null,
  transaction_index integer not null,
  sender text collate "C" not null,
  target text collate "C",
  distributor_id text collate "C",
  codes text[] not null,
  schema text,
  signature_valid boolean,
  retracted boolean not null default false,
  primary key (chain_id, block_hash, transaction_hash)
);
create index watched_transaction_idx on watched (transaction_hash, chain_id);
create index watched_block_idx on watched (chain_id, block_number) where not retracted;
