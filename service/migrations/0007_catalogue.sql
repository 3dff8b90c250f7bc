-- Owner: catalogue. Configuration kept by the operator (import of a catalogue file, CLI); `opportunity_analytics` and
-- `opportunity_capabilities` are observations of the present, replaced in place. What decides ledger rows
-- (distributors, signed only, signers) is dated by chain time in `active_from`.
create table organizations (
  id uuid primary key,
  name text not null,
  description text not null default '',
  icon_url text not null default '',
  landing_url text not null default '',
  organization_type text not null check (organization_type in
    ('curator', 'provider', 'partner', 'lending-protocol', 'distributor', 'reward-sponsor')),
  premium boolean not null default false,
  created_at timestamptz not null default now()
);

create table distributors (
  id text primary key check (id ~ '^[A-Za-z0-9_-]{1,32}$'),
  organization_id uuid not null references organizations (id),
  name text not null default '',
  active_from timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index distributors_organization_id_idx on distributors (organization_id);
create trigger distributors_configuration after insert or delete on distributors for each row
  execute function note_configuration();
create trigger distributors_configuration_change after update on distributors for each row
  when (old.id <> new.id or old.active_from <> new.active_from) execute function note_configuration();

-- The setting in force at a block is the newest row at or before the block's time.
create table distributor_settings (
  distributor_id text not null references distributors (id),
  signed_only boolean not null,
  active_from timestamptz not null,
  primary key (distributor_id, active_from)
);
create trigger distributor_settings_configuration after insert or delete or update on distributor_settings for each row
  execute function note_configuration();

-- Addresses of our attribution keys, present and retired.
create table attribution_signers (
  address text collate "C" primary key check (address = lower(address)),
  active_from timestamptz not null,
  retired_at timestamptz
);
create trigger attribution_signers_configuration after insert or delete or update on attribution_signers for each row
  execute function note_configuration();

create table opportunities (
  id uuid primary key,
  slug text not null unique,
  name text not null,
  description text not null default '',
  type text not null check (type in ('vault', 'lending', 'liquid-staking', 'structured')),
  chain_id bigint not null,
  vault_address text not null,
  curator_id uuid references organizations (id),
  min_deposit_amount_usd numeric not null default 0,
  min_withdraw_amount numeric not null default 0,
  featured boolean not null default false,
  active boolean not null default true,
  -- The operator's switch; the vault's own state is in opportunity_capabilities.
  deposit_enabled boolean not null default true,
  withdraw_enabled boolean not null default true,
  deposit_disabled_reason text not null default '',
  withdraw_disabled_reason text not null default '',
  direct_interaction_enabled boolean not null default true,
  routed_swap_enabled boolean not null default false,
  is_secondary_market boolean not null default false,
  created_at timestamptz not null default now(),
  unique (chain_id, vault_address),
  foreign key (chain_id, vault_address) references vaults (chain_id, address)
);
create index opportunities_curator_id_idx on opportunities (curator_id);

-- Tokens a deposit accepts, in the order shown.
create table opportunity_tokens (
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  chain_id bigint not null,
  address text not null,
  position integer not null,
  primary key (opportunity_id, chain_id, address),
  foreign key (chain_id, address) references tokens (chain_id, address)
);
create index opportunity_tokens_token_idx on opportunity_tokens (chain_id, address);

create table opportunity_organizations (
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  organization_id uuid not null references organizations (id),
  role text not null check (role in ('provider', 'partner', 'lending-protocol')),
  primary key (opportunity_id, organization_id, role)
);
create index opportunity_organizations_organization_id_idx on opportunity_organizations (organization_id);

create table tags (
  id uuid primary key,
  code text not null unique,
  name text not null,
  description text not null default '',
  color text not null default ''
);

create table opportunity_tags (
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  tag_id uuid not null references tags (id),
  primary key (opportunity_id, tag_id)
);
create index opportunity_tags_tag_id_idx on opportunity_tags (tag_id);

create table products (
  id uuid primary key,
  name text not null,
  organization_id uuid references organizations (id),
  created_at timestamptz not null default now()
);
create index products_organization_id_idx on products (organization_id);

create table opportunity_products (
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  product_id uuid not null references products (id) on delete cascade,
  primary key (opportunity_id, product_id)
);
create index opportunity_products_product_id_idx on opportunity_products (product_id);

create table incentives (
  id uuid primary key,
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  name text not null,
  description text not null default '',
  icon_url text not null default '',
  reward_type text not null check (reward_type in ('points', 'tokens', 'yield', 'vesting')),
  reward_type_name text not null default '',
  apr numeric,
  min_apr numeric,
  max_apr numeric,
  est_price_usd numeric,
  fdv_estimate numeric,
  token_supply_allocation numeric,
  indexed boolean not null default false,
  active boolean not null default true,
  position integer not null default 0
);
create index incentives_opportunity_id_idx on incentives (opportunity_id);

-- What a distributor shows (earn-details): opportunities and whole products.
create table distributor_opportunities (
  distributor_id text not null references distributors (id) on delete cascade,
  opportunity_id uuid not null references opportunities (id) on delete cascade,
  primary key (distributor_id, opportunity_id)
);
create index distributor_opportunities_opportunity_id_idx on distributor_opportunities (opportunity_id);

create table distributor_products (
  distributor_id text not null references distributors (id) on delete cascade,
  product_id uuid not null references products (id) on delete cascade,
  primary key (distributor_id, product_id)
);
create index distributor_products_product_id_idx on distributor_products (product_id);

-- Pushed by jobs: TVL and its movement.
create table opportunity_analytics (
  opportunity_id uuid primary key references opportunities (id) on delete cascade,
  tvl_usd numeric,
  deltas jsonb not null default '{}',
  -- Percent a year, shown by yield incentives that are indexed; null while it is withheld.
  indexed_apr numeric,
  analytics_at timestamptz,
  -- What incentives of tokens and points show that are indexed, in percent a year by reward type: the latest APR of the
  -- streams that run on the receipt token. A type without a stream that runs is left out; null: its APR is not known.
  stream_aprs jsonb not null default '{}'
);

-- The vault's own state as last read from its chain.
create table opportunity_capabilities (
  opportunity_id uuid primary key references opportunities (id) on delete cascade,
  deposit_open boolean not null,
  withdraw_open boolean not null,
  deposit_closed_reason text not null default '',
  withdraw_closed_reason text not null default '',
  capability_at timestamptz not null
);

-- Processes compare both and swap their snapshot. `version` is raised by every change of configuration, `live_version`
-- by every push of analytics or capabilities, after which only those two tables are read again.
create table catalogue_versions (
  only_row boolean primary key default true check (only_row),
  version bigint not null,
  live_version bigint not null default 1
);
insert into catalogue_versions (version) values (1);
