-- Owner: vaults. What decides how the history of a vault is served: configuration kept by the operator, dated.
-- The sources its growth is measured by, each `{ source, activeFrom?, activeTo? }`; null is the share price from the start,
-- an empty list is none.
alter table vaults add column growth_sources jsonb;
-- A snapshot with fewer shares than this (smallest units) is no reading: of an empty vault anybody sets the share price.
alter table vaults add column dust_floor numeric(78, 0) not null default 1000 check (dust_floor >= 0);

-- Spans in which what a vault says of its share price is not believed.
create table vault_pauses (
  vault_id integer not null,
  paused_from timestamptz not null,
  resumed_at timestamptz check (resumed_at > paused_from),
  primary key (vault_id, paused_from)
);
-- A vault is paused once at a time.
create unique index vault_pauses_open_idx on vault_pauses (vault_id) where resumed_at is null;
