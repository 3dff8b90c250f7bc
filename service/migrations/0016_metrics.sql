-- Owner: metrics. All derived, of confirmed blocks only, from the changes of lots and balances. A step is a stretch of
-- 900 s by its number since 1970; a row says what held at its end, and there is one only where something changed. With
-- each row stand the first and the last block that changed something in it: what a rewind takes back is found by the last,
-- and a step it cuts in two is counted again from its first.
-- Without foreign keys, by design: rows are written in bulk by the one process that holds the chain's cursor, and a rebuild
-- compares them all. A `distributor_id` here may also be a scope: '' is every holder, '*' all distributors of a wallet
-- together. No code of a distributor reads so.

-- Sum of a distributor's lots in a vault.
create table attributed_steps (
  chain_id bigint not null,
  first_block bigint not null,
  last_block bigint not null,
  vault_id integer not null,
  step integer not null,
  distributor_id text collate "C" not null,
  -- Totals have no largest value, as those of lots.
  shares numeric not null check (shares >= 0),
  primary key (distributor_id, vault_id, step)
);
create index attributed_steps_block_idx on attributed_steps (chain_id, last_block);

-- Where a wallet reached or left a floor of a vault. A vault has as many levels as its dated settings name different
-- floors, the lowest first; each is followed through the whole past. `change` is 0 where a floor was reached and left in
-- the same block for the first time: it was an LP for a while.
create table lp_edges (
  chain_id bigint not null,
  block_number bigint not null,
  block_timestamp timestamptz not null,
  vault_id integer not null,
  level smallint not null,
  change smallint not null check (change in (-1, 0, 1)),
  is_first boolean not null,
  distributor_id text collate "C" not null,
  wallet bytea not null,
  primary key (vault_id, distributor_id, level, wallet, block_number)
);
create index lp_edges_block_idx on lp_edges (chain_id, block_number);
-- The edges of one wallet after the other, each in the order of time: who is an LP of several vaults counts once.
create index lp_edges_wallet_idx on lp_edges (distributor_id, wallet, block_timestamp, block_number)
  include (vault_id, level, change);

-- How many wallets are at or above a floor, and how many ever were.
create table lp_steps (
  chain_id bigint not null,
  first_block bigint not null,
  last_block bigint not null,
  vault_id integer not null,
  step integer not null,
  active integer not null check (active >= 0),
  participated integer not null check (participated >= active),
  level smallint not null,
  distributor_id text collate "C" not null,
  primary key (vault_id, distributor_id, level, step)
);
create index lp_steps_block_idx on lp_steps (chain_id, last_block);

-- Where metrics are derived again while the old ones are read.
create unlogged table rebuilt_attributed_steps (like attributed_steps) with (autovacuum_enabled = off);
create unique index rebuilt_attributed_steps_key on rebuilt_attributed_steps (distributor_id, vault_id, step);
create unlogged table rebuilt_lp_edges (like lp_edges) with (autovacuum_enabled = off);
create unique index rebuilt_lp_edges_key on rebuilt_lp_edges (vault_id, distributor_id, level, wallet, block_number);
create unlogged table rebuilt_lp_steps (like lp_steps) with (autovacuum_enabled = off);
create unique index rebuilt_lp_steps_key on rebuilt_lp_steps (vault_id, distributor_id, level, step);
