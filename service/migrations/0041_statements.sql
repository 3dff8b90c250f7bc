-- Owner: audit. Observations: what distributors were told that a month came to, as bytes that never change. Where the facts of a
-- month changed later there is another revision, which says by how much and why; the earlier ones stay.
create table statements (
  distributor_id text collate "C" not null,
  -- YYYY-MM, UTC.
  month text collate "C" not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  -- The rate and the token that what is owed was counted by; empty: none.
  terms text collate "C" not null,
  revision integer not null check (revision > 0),
  made_at timestamptz not null,
  rules_version integer not null,
  -- SHA-256 of the document.
  sha256 bytea not null check (length(sha256) = 32),
  document text not null,
  rows_csv text not null,
  manifest text not null,
  primary key (distributor_id, month, terms, revision)
);
