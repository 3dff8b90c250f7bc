-- Owner: vaults. `protocols` and `vaults` are configuration kept by the operator; what decides ledger rows is dated by
-- chain time in `active_from`. Addresses are lower-case.
create table protocols (
  id uuid primary key,
  name text not null,
  logo_url text not null default '',
  site_url text not null default ''
);

create table vaults (
  chain_id bigint not null references chains (chain_id),
  address text not null check (address = lower(address)),
  kind text not null,
  protocol_id uuid references protocols (id),
  asset text not null,
  asset_decimals integer not null,
  receipt_token text not null,
  receipt_decimals integer not null,
  -- First block worth reading: the vault's deployment.
  start_block bigint not null default 0,
  active_from timestamptz not null default now(),
  snapshot_interval_seconds integer not null default 900,
  id integer generated always as identity,
  -- Holds shares or assets on behalf of others (an escrow or silo); never counted as a depositor.
  escrow text check (escrow = lower(escrow)),
  -- Addresses of the contracts beside the vault that its kind knows, by name: what they emit is the vault's.
  contracts jsonb not null default '{}' check (contracts::text = lower(contracts::text)),
  -- Fewest shares of an LP, by time: [{ shares, activeFrom? }]. None: the smallest unit.
  lp_floor jsonb not null default '[]',
  -- The sources its growth is measured by, each `{ source, activeFrom?, activeTo? }`; null is the share price from the start,
  -- an empty list is none.
  growth_sources jsonb,
  -- A snapshot with fewer shares than this (smallest units) is no reading: of an empty vault anybody sets the share price.
  dust_floor numeric(78, 0) not null default 1000 check (dust_floor >= 0),
  primary key (chain_id, address),
  constraint vaults_id_key unique (id)
);
create index vaults_protocol_id_idx on vaults (protocol_id);
create trigger vaults_configuration after insert or delete on vaults for each row execute function note_configuration();
create trigger vaults_configuration_change after update on vaults for each row
  when ((old.address, old.kind, old.asset, old.asset_decimals, old.receipt_token, old.start_block, old.active_from, old.escrow,
    old.contracts, old.lp_floor)
    is distinct from
    (new.address, new.kind, new.asset, new.asset_decimals, new.receipt_token, new.start_block, new.active_from, new.escrow,
    new.contracts, new.lp_floor))
  execute function note_configuration();

-- Spans in which what a vault says of its share price is not believed.
create table vault_pauses (
  vault_id integer not null,
  paused_from timestamptz not null,
  resumed_at timestamptz check (resumed_at > paused_from),
  primary key (vault_id, paused_from)
);
-- A vault is paused once at a time.
create unique index vault_pauses_open_idx on vault_pauses (vault_id) where resumed_at is null;
