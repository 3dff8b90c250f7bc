-- Owner: streams. `stream_points`, `streams` and `stream_operations` are records of what callers asked for; `stream_events`
-- is derived of what factories and streams emitted; snapshots of streams and of their wallets, and the reward files they
-- rest on, are observations: taken once, and never changed by what is derived later. Addresses of small tables are
-- lower-case text, those of big ones bytes.

-- What a point stream gives: a unit that is on no chain.
create table stream_points (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  symbol text not null check (symbol = upper(symbol)),
  name text not null,
  decimals integer not null check (decimals between 0 and 36),
  logo_url text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint stream_points_symbol_key unique (organization_id, symbol)
);

create table streams (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  -- 1 fixed rate, 2 fixed APR, 3 daily budget.
  type smallint not null check (type in (1, 2, 3)),
  -- The vault whose receipt token earns; of any other ERC-20 a vault of kind `erc20`.
  target_vault_id integer not null references vaults (id),
  target_chain_id bigint not null references chains (chain_id),
  target_token text not null check (target_token = lower(target_token)),
  -- Of a stream that pays tokens: where, from which factory, by whom, and how long its creation may be sent.
  chain_id bigint references chains (chain_id),
  reward_token text check (reward_token = lower(reward_token)),
  factory text check (factory = lower(factory)),
  -- It follows from the id and the factory, so it is known before there is a contract.
  contract_address text check (contract_address = lower(contract_address)),
  admin text check (admin = lower(admin)),
  signed_until timestamptz,
  -- No block below it can hold the creation.
  from_block bigint,
  point_id uuid references stream_points (id),
  -- The net budget signed at the creation; null where points have no end to them.
  total_amount numeric(78, 0) check (total_amount > 0),
  fee_amount numeric(78, 0) check (fee_amount >= 0),
  starts_at timestamptz not null,
  -- Moved by an operator who ends it early.
  ends_at timestamptz check (ends_at > starts_at),
  custom_args jsonb not null,
  adapters jsonb not null default '[]',
  claim_paused boolean not null default false,
  hash_commitment_paused boolean not null default false,
  merkle_tree_computation_paused boolean not null default false,
  snapshot_computation_paused boolean not null default false,
  -- Why it was paused by itself.
  alarm text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (case when point_id is null
    then chain_id is not null and reward_token is not null and factory is not null and contract_address is not null
      and admin is not null and signed_until is not null and from_block is not null and total_amount is not null
      and fee_amount is not null
    else chain_id is null and reward_token is null and factory is null and contract_address is null and admin is null
      and signed_until is null and from_block is null and fee_amount is null end)
);
create index streams_organization_id_idx on streams (organization_id);
create index streams_target_vault_id_idx on streams (target_vault_id);
create index streams_target_idx on streams (target_chain_id, target_token);
create index streams_point_id_idx on streams (point_id);
create unique index streams_contract_idx on streams (chain_id, contract_address);
create trigger streams_configuration after insert or delete on streams for each row execute function note_configuration();

-- What the factory and the contracts of streams emitted. `amount` is what moved, `total` what has been allocated or paid
-- in all by then.
create table stream_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  log_index integer not null,
  stream_id uuid not null,
  kind text not null check (kind in ('created', 'funds-added', 'funds-withdrawn', 'root', 'claimed', 'claims-paused')),
  transaction_hash bytea not null,
  -- Who created, added, withdrew or claimed; of a withdrawal `receiver` has the amount.
  wallet bytea,
  receiver bytea,
  salt bytea,
  root bytea,
  root_at timestamptz,
  amount numeric(78, 0),
  fee numeric(78, 0),
  total numeric(78, 0),
  paused boolean,
  primary key (chain_id, block_number, log_index)
);
create index stream_events_stream_idx on stream_events (stream_id, kind, block_number, log_index);
create index stream_events_salt_idx on stream_events (salt) where salt is not null;
create unlogged table rebuilt_stream_events (like stream_events) with (autovacuum_enabled = off);
create unique index rebuilt_stream_events_key on rebuilt_stream_events (chain_id, block_number, log_index);

-- Withdrawals and budget increases that were signed. One that can still be executed, or was and is not confirmed yet, is
-- open: at most one a stream.
create table stream_operations (
  id uuid primary key,
  stream_id uuid not null references streams (id),
  type text not null check (type in ('withdrawal', 'budget-increase')),
  amount numeric(78, 0) not null check (amount > 0),
  fee_amount numeric(78, 0) not null check (fee_amount >= 0),
  receiver text check (receiver = lower(receiver)),
  salt bytea not null unique check (length(salt) = 32),
  deadline timestamptz not null,
  signature bytea not null check (length(signature) = 65),
  is_open boolean not null default true,
  created_at timestamptz not null
);
create unique index stream_operations_open_idx on stream_operations (stream_id) where is_open;
create index stream_operations_stream_id_idx on stream_operations (stream_id, created_at);

-- What a stream owed at an instant, by the last block of the target's chain at or before it. One of each instant counts:
-- what is vetoed stays as a record, and another may be taken of its instant.
create table stream_snapshots (
  id uuid primary key,
  stream_id uuid not null references streams (id),
  snapshot_at timestamptz not null,
  target_chain_id bigint not null,
  block_number bigint not null,
  block_hash bytea not null check (length(block_hash) = 32),
  -- The one before, from whose amounts it goes on; null: from the start.
  previous_id uuid references stream_snapshots (id) on delete set null,
  -- Of the end of the stream: nothing accrues after it.
  is_last boolean not null,
  -- Sums of what the wallets have earned up to the instant: before the adapters and after them.
  amount_base numeric(78, 0) not null check (amount_base >= 0),
  amount_distributed numeric(78, 0) not null check (amount_distributed >= 0),
  apr numeric,
  base_apr numeric,
  tvl numeric,
  base_tvl numeric,
  reward_token_price numeric,
  user_count integer not null,
  active_user_count integer not null,
  custom_metrics jsonb not null default '{}',
  -- What it rests on: a hash of balances and lots, ids of price observations.
  pins jsonb not null default '{}',
  -- How far the stream has accrued, beside what each wallet has: the next one goes on from it.
  state jsonb not null,
  -- SHA-256 of its reward file.
  file_hash bytea check (length(file_hash) = 32),
  -- The root of its tree; null: not yet, or nothing is allocated to anybody.
  root bytea check (length(root) = 32),
  -- When its tree was computed: the time to veto it runs from then.
  rooted_at timestamptz,
  vetoed_at timestamptz,
  -- The transaction that commits it, in the queue of the sender.
  commit_id uuid unique,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index stream_snapshots_instant_idx on stream_snapshots (stream_id, snapshot_at) where vetoed_at is null;
create index stream_snapshots_stream_id_idx on stream_snapshots (stream_id, snapshot_at);
create index stream_snapshots_previous_id_idx on stream_snapshots (previous_id);
create index stream_snapshots_block_idx on stream_snapshots (target_chain_id, block_number);

create table stream_wallet_snapshots (
  snapshot_id uuid not null references stream_snapshots (id) on delete cascade,
  wallet bytea not null check (length(wallet) = 20),
  rewards numeric(78, 0) not null check (rewards >= 0),
  rewards_base numeric(78, 0) not null check (rewards_base >= 0),
  -- The same exactly, in the parts of a unit that accrual counts.
  accrued numeric not null check (accrued >= 0),
  accrued_base numeric not null check (accrued_base >= 0),
  tvl numeric,
  base_tvl numeric,
  apr numeric,
  base_apr numeric,
  custom_metrics jsonb not null default '{}',
  primary key (snapshot_id, wallet)
);
create index stream_wallet_snapshots_wallet_idx on stream_wallet_snapshots (wallet);

-- Reward files, canonical JSON compressed with gzip, by the SHA-256 of the JSON.
create table stream_files (
  hash bytea primary key check (length(hash) = 32),
  stream_id uuid not null references streams (id),
  snapshot_at timestamptz not null,
  content bytea not null
);
create index stream_files_stream_id_idx on stream_files (stream_id, snapshot_at);

-- The reward file of a snapshot is there as long as the snapshot: two of the same inputs share theirs, and
-- neither may lose it with the other. It is checked at the end of a transaction, in whatever order rows are written.
alter table stream_snapshots add constraint stream_snapshots_file_hash_fkey
  foreign key (file_hash) references stream_files (hash) deferrable initially deferred;
create index stream_snapshots_file_hash_idx on stream_snapshots (file_hash);
