-- Owner: metrics. Observations: what the monthly audit found of a distributor, as it was told. The job writes one row a month once the
-- month is final on every chain, and never changes it.
create table audits (
  distributor_id text collate "C" not null,
  -- YYYY-MM, UTC.
  month text collate "C" not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  made_at timestamptz not null,
  rules_version integer not null,
  -- Points in hundredths; those of the findings add up to it.
  score integer not null check (score >= 0),
  -- [{ code, count, usdDays, percent, points, level, transactions }], at most 20 transactions each.
  findings jsonb not null,
  -- The thresholds that it was made by.
  limits jsonb not null,
  primary key (distributor_id, month)
);
