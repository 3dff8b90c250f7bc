-- Owner: prices. `tokens` is configuration kept by the operator. `price_observations` are observations, append-only;
-- `price_histories` records how far the past of feeds and of what a provider tells is read.
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
  -- The feed that prices it: `{ "address", "heartbeatSeconds" }`; null: none does.
  price_feed jsonb,
  -- The vault it is a share of, where its price follows from that of the vault's asset.
  price_vault text check (price_vault = lower(price_vault)),
  -- What the price provider calls it.
  price_id text,
  -- approve() refuses to change a non-zero allowance to another non-zero one.
  approval_reset boolean not null default false,
  -- Why this token cannot be deposited (it rebases, it takes a fee); empty when it can.
  unsupported_reason text not null default '',
  -- Whether reward streams may pay it.
  is_allowed_reward_token boolean not null default false,
  primary key (chain_id, address)
);

-- What a source said of a token at a time. A row is never changed but for `withheld`. A fixed peg is one observation at
-- its start; nothing is priced by an observation newer than the instant asked for.
create table price_observations (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  address text not null,
  -- Null: the source says nothing from here on.
  price_usd numeric check (price_usd >= 0),
  source text not null,
  observed_at timestamptz not null,
  -- The block it was read at.
  block_number bigint,
  block_hash text,
  -- The order in which sources are asked: 0 peg, 1 feed, 2 share of a vault, 3 provider.
  rank smallint not null default 3 check (rank between 0 and 3),
  -- The last instant it may price; null: no end.
  valid_until timestamptz,
  -- Why it prices nothing: a jump nothing has agreed with yet, or its block was orphaned.
  withheld text check (withheld in ('suspect', 'orphaned'))
);
create index price_observations_token_idx on price_observations (chain_id, address, rank, observed_at desc, id desc);
create index price_observations_block_idx on price_observations (chain_id, block_number) where block_number is not null;
create index price_observations_withheld_idx on price_observations (chain_id, address) where withheld = 'suspect';

-- The price of a token at an instant: of the first source in order that has one, the newest observation at or before the
-- instant. No row: there is none.
create function price_at(of_chain bigint, of_token text, at timestamptz)
  returns table (id bigint, price_usd numeric, source text, observed_at timestamptz)
  language sql stable parallel safe as $$
    select o.id, o.price_usd, o.source, o.observed_at
    from (values (0::smallint), (1::smallint), (2::smallint), (3::smallint)) as r (rank)
    cross join lateral (
      select p.id, p.price_usd, p.source, p.observed_at, p.valid_until from price_observations p
      where p.chain_id = of_chain and p.address = of_token and p.rank = r.rank and p.observed_at <= at
        and p.withheld is null
      order by p.observed_at desc, p.id desc limit 1) o
    where o.price_usd is not null and (o.valid_until is null or o.valid_until >= at)
    order by r.rank limit 1
  $$;

-- The first instant something was observed of a token; null: nothing was.
create function priced_since(of_chain bigint, of_token text) returns timestamptz
  language sql stable parallel safe as $$
    select min(p.observed_at) from price_observations p
    where p.chain_id = of_chain and p.address = of_token and p.withheld is null and p.price_usd is not null
  $$;

-- How far the rounds of a feed are read, newest first. Of a provider over HTTP rounds are Unix seconds, read oldest first:
-- `next_round` up to `newest_round`.
create table price_histories (
  chain_id bigint not null,
  address text not null,
  source text not null,
  -- The next round to read, down to those after `stop_round`; null: all up to `newest_round` are read.
  next_round numeric(78, 0),
  newest_round numeric(78, 0) not null default 0,
  stop_round numeric(78, 0) not null default 0,
  problem text,
  primary key (chain_id, address, source)
);
