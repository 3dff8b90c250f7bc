-- Owner: sync. Takes over: rules_versions. Configuration, noted once by the update that brings a version.
-- Version 3 of the rules: a suffix of a frame around a bundle of user operations counts for no event inside these. Who has
-- vaults keeps the earlier rule for the month that has begun.
insert into rules_versions (version, holds_from)
select 3, case when exists (select from vaults)
  then (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
  else to_timestamp(0) end;
