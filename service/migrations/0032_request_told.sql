-- Owner: positions. The state of a request that others were told of last: records. The past of an installation is not told.
create table request_told (
  request_id uuid primary key,
  state text not null check (state in ('pending', 'claimable', 'claimed', 'cancelling', 'cancelled'))
);
insert into request_told (request_id, state)
select id, case when remaining > 0 then 'pending' when cancelled > 0 then 'cancelled' else 'claimed' end from requests;
