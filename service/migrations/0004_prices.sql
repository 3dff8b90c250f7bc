-- Owner: prices. `tokens` is configuration kept by the operator. `price_observations` are observations, append-only.
create table tokens (
  chain_id bigint not null references chains (chain_id),
  address text not null check (address = lower(address)),
  decimals integer not null check (decimals between 0 and 36),
  symbol text not null,
  name text not null,
  logo_url text not null default '',
  active boolean not null default true,
  -- Fixed USD price of a whole token; null when other sources decide.
  peg_usd numeric,
  -- approve() refuses to change a non-zero allowance to another non-zero one.
  approval_reset boolean not null default false,
  -- Why this token cannot be deposited (it rebases, it takes a fee); empty when it can.
  unsupported_reason text not null default '',
  primary key (chain_id, address)
);

-- A fixed peg is one observation at its start; nothing is priced by an observation newer than the instant asked for.
create table price_observations (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  address text not null,
  price_usd numeric not null check (price_usd >= 0),
  source text not null,
  observed_at timestamptz not null,
  block_number bigint,
  block_hash text
);
create index price_observations_token_idx on price_observations (chain_id, address, observed_at desc, id desc);
