-- Owner: metrics. Derived, of confirmed blocks only: USD-days of whole UTC days, counted ahead by a job, so that a request adds
-- sums instead of counting again. Without foreign keys, by design: a day goes with a mark, whoever changed what it follows from.

-- A day of a vault (by its number since 1970) that is counted, for every distributor with shares in it.
create table usd_days (
  vault_id integer not null,
  day integer not null,
  -- A block at which the share price has to be read was not tried yet.
  is_awaited boolean not null,
  -- Vaults whose shares the price of the asset follows from.
  bases integer[] not null,
  -- Snapshots in force after which the paid price fell, each with its price and the lowest paid one: [block, text, text].
  falls jsonb not null,
  primary key (vault_id, day)
);
create index usd_days_bases_idx on usd_days using gin (bases);

-- What a distributor has on such a day; no row: nothing.
create table usd_day_sums (
  distributor_id text collate "C" not null,
  vault_id integer not null,
  day integer not null,
  -- US dollars × milliseconds × 10^decimals of the asset of the day: an integer, divided by 10^scale.
  scale smallint not null,
  total numeric not null check (total >= 0),
  unpriced_ms integer not null check (unpriced_ms >= 0),
  unguarded_ms integer not null check (unguarded_ms >= 0),
  -- The same of each of its 96 stretches of 900 s, exact, and as USD-days cut after 18 digits: integers in hexadecimal digits
  -- with a space between. Requests read thousands of them, and nothing is summed here.
  sums text collate "C" not null check (cardinality(string_to_array(sums, ' 0x')) = 96),
  cuts text collate "C" not null check (cardinality(string_to_array(cuts, ' 0x')) = 96),
  primary key (distributor_id, vault_id, day)
);
-- They are read far more often than written, and hardly smaller when compressed.
alter table usd_day_sums alter column sums set storage external, alter column cuts set storage external;
create index usd_day_sums_vault_idx on usd_day_sums (vault_id, day);

-- Something that counted days of a vault may follow from changed, from an instant on, and up to another. A day with a mark is
-- not read. Rows are only added and removed, so that who changes facts never waits for who counts.
create table usd_day_marks (
  vault_id integer not null,
  from_at timestamptz not null,
  to_at timestamptz not null
);
create index usd_day_marks_vault_idx on usd_day_marks (vault_id);

-- Facts are marked in the transaction that changes them, whichever way it does so: a reorganisation, a source that joins, a
-- repair, a rebuild, a price that comes late.
create function mark_usd_days() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at)
  select vault_id, min(block_timestamp), 'infinity' from changed group by vault_id;
  return null;
end $$;
create trigger lot_changes_written after insert on lot_changes referencing new table as changed
  for each statement execute function mark_usd_days();
create trigger lot_changes_removed after delete on lot_changes referencing old table as changed
  for each statement execute function mark_usd_days();
create trigger share_mints_written after insert on share_mints referencing new table as changed
  for each statement execute function mark_usd_days();
create trigger share_mints_removed after delete on share_mints referencing old table as changed
  for each statement execute function mark_usd_days();
create trigger share_readings_written after insert on share_readings referencing new table as changed
  for each statement execute function mark_usd_days();
create trigger share_readings_removed after delete on share_readings referencing old table as changed
  for each statement execute function mark_usd_days();
create trigger share_reading_gaps_written after insert on share_reading_gaps referencing new table as changed
  for each statement execute function mark_usd_days();
create trigger share_reading_gaps_removed after delete on share_reading_gaps referencing old table as changed
  for each statement execute function mark_usd_days();

-- A block that could not be read is tried again and again: only the first try changes what counts.
create function mark_usd_days_tried() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at)
  select n.vault_id, min(n.block_timestamp), 'infinity'
  from now_rows n join before_rows b using (vault_id, block_number)
  where (n.tried_at > '-infinity') <> (b.tried_at > '-infinity') group by n.vault_id;
  return null;
end $$;
create trigger share_reading_gaps_tried after update on share_reading_gaps
  referencing old table as before_rows new table as now_rows for each statement execute function mark_usd_days_tried();

create function mark_usd_days_stepped() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at)
  select vault_id, to_timestamp(min(step)::bigint * 900), 'infinity' from changed group by vault_id;
  return null;
end $$;
create trigger attributed_steps_written after insert on attributed_steps referencing new table as changed
  for each statement execute function mark_usd_days_stepped();
create trigger attributed_steps_changed after update on attributed_steps referencing new table as changed
  for each statement execute function mark_usd_days_stepped();
create trigger attributed_steps_removed after delete on attributed_steps referencing old table as changed
  for each statement execute function mark_usd_days_stepped();

-- A snapshot decides up to the next one. Where the time of a reading of a vault's identity was not stored, the snapshots around
-- it stand in, so that one may decide earlier.
create function mark_usd_days_seen() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at)
  select c.vault_id,
    case when exists (select from vault_identities i where i.vault_id = c.vault_id and i.block_timestamp is null)
      then '-infinity' else c.block_timestamp end,
    coalesce((select min(s.block_timestamp) from vault_snapshots s
      where s.vault_id = c.vault_id and s.block_timestamp > c.block_timestamp), 'infinity')
  from changed c;
  return null;
end $$;
create trigger vault_snapshots_written after insert on vault_snapshots referencing new table as changed
  for each statement execute function mark_usd_days_seen();
create trigger vault_snapshots_changed after update on vault_snapshots referencing new table as changed
  for each statement execute function mark_usd_days_seen();
create trigger vault_snapshots_removed after delete on vault_snapshots referencing old table as changed
  for each statement execute function mark_usd_days_seen();

-- A reading of a vault's identity decides from the one before it on. One that says the same as that one decides nothing.
create function mark_usd_days_identified() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at)
  select c.vault_id, coalesce(b.block_timestamp, '-infinity'), 'infinity'
  from changed c left join lateral (
    select i.* from vault_identities i where i.vault_id = c.vault_id and i.block_number < c.block_number
    order by i.block_number desc limit 1) b on true
  where tg_op <> 'INSERT' or b.block_timestamp is null or c.block_timestamp is null
    or (b.asset, b.receipt_token, b.asset_decimals, b.receipt_decimals)
      is distinct from (c.asset, c.receipt_token, c.asset_decimals, c.receipt_decimals);
  return null;
end $$;
create trigger vault_identities_written after insert on vault_identities referencing new table as changed
  for each statement execute function mark_usd_days_identified();
create trigger vault_identities_changed after update on vault_identities referencing new table as changed
  for each statement execute function mark_usd_days_identified();
create trigger vault_identities_removed after delete on vault_identities referencing old table as changed
  for each statement execute function mark_usd_days_identified();

create function mark_usd_days_ruled() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at) select id, '-infinity', 'infinity' from vaults;
  return null;
end $$;
create trigger rules_versions_changed after insert or update or delete on rules_versions
  for each statement execute function mark_usd_days_ruled();

create function mark_usd_days_configured() returns trigger language plpgsql as $$
begin
  insert into usd_day_marks (vault_id, from_at, to_at) values (new.id, '-infinity', 'infinity');
  return null;
end $$;
create trigger vaults_counted_otherwise after update on vaults for each row
  when ((old.asset, old.receipt_token, old.asset_decimals, old.receipt_decimals)
    is distinct from (new.asset, new.receipt_token, new.asset_decimals, new.receipt_decimals))
  execute function mark_usd_days_configured();
