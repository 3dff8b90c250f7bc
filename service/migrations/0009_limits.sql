-- Owner: limits. `budgets` holds what each key has used of its hour and its month: one row a key, one statement a charge.
-- `address_budgets` counts what each client address has used of its current hour. `idempotency_keys` holds the answers to
-- requests that named an Idempotency-Key, for 24 hours, and who is working on one. All are our own state; none can be
-- recomputed.
create table budgets (
  key_id uuid primary key references api_keys (id) on delete cascade,
  -- Starts of the UTC hour and the UTC calendar month the counts belong to. They never move backwards.
  hour_at timestamptz not null,
  hour_used bigint not null check (hour_used >= 0),
  month_at timestamptz not null,
  month_used bigint not null check (month_used >= 0)
) with (fillfactor = 50);

create table address_budgets (
  key_id uuid not null references api_keys (id) on delete cascade,
  -- An IPv4 address, or the first 64 bits of an IPv6 one.
  network text not null,
  -- Start of the UTC hour the count belongs to: that of the key's row in `budgets`.
  hour_at timestamptz not null,
  used bigint not null check (used >= 0),
  primary key (key_id, network)
) with (fillfactor = 50);
create index address_budgets_hour_at_idx on address_budgets (hour_at);

-- Charges a key and the addresses its calls came from, all or nothing, or only reads where `p_take` is 0. What is needed
-- may be more than what is taken. The row of the key is the lock: whoever holds it sees what everyone before has charged.
create function charge_by_address(
  p_key uuid, p_hour timestamptz, p_month timestamptz, p_hourly bigint, p_monthly bigint, p_need bigint, p_take bigint,
  p_networks text[], p_limits bigint[], p_needs bigint[], p_takes bigint[],
  out charged boolean, out hour_at timestamptz, out hour_used bigint, out month_at timestamptz, out month_used bigint,
  out network_used bigint[]
) language plpgsql as $$
declare
  kept budgets%rowtype;
begin
  if p_take > 0 then
    insert into budgets values (p_key, p_hour, 0, p_month, 0) on conflict do nothing;
    select * into kept from budgets where key_id = p_key for no key update;
  else
    select * into kept from budgets where key_id = p_key;
  end if;
  hour_at := greatest(kept.hour_at, p_hour);
  hour_used := case when kept.hour_at >= p_hour then kept.hour_used else 0 end;
  month_at := greatest(kept.month_at, p_month);
  month_used := case when kept.month_at >= p_month then kept.month_used else 0 end;
  select array_agg(case when a.hour_at >= charge_by_address.hour_at then a.used else 0 end order by n.at) into network_used
    from unnest(p_networks) with ordinality as n (network, at)
    left join address_budgets a on a.key_id = p_key and a.network = n.network;
  charged := p_take = 0 or (
    hour_used + p_need <= p_hourly and (p_monthly is null or month_used + p_need <= p_monthly)
    and not exists (
      select from unnest(network_used, p_needs, p_limits) as n (used, need, allowed)
      where n.need > 0 and n.used + n.need > n.allowed));
  if p_take = 0 or not charged then
    return;
  end if;
  hour_used := hour_used + p_take;
  month_used := month_used + p_take;
  update budgets b set hour_at = charge_by_address.hour_at, hour_used = charge_by_address.hour_used,
      month_at = charge_by_address.month_at, month_used = charge_by_address.month_used
    where b.key_id = p_key;
  insert into address_budgets as a (key_id, network, hour_at, used)
    select p_key, n.network, charge_by_address.hour_at, n.used + n.take
    from unnest(p_networks, network_used, p_takes) as n (network, used, take) where n.take > 0
    on conflict (key_id, network) do update set hour_at = excluded.hour_at, used = excluded.used;
  select array_agg(n.used + n.take order by n.at) into network_used
    from unnest(network_used, p_takes) with ordinality as n (used, take, at);
end $$;

create table idempotency_keys (
  organization_id uuid not null references organizations (id) on delete cascade,
  key text not null,
  -- SHA-256 of the operation and its whole input.
  fingerprint bytea not null,
  -- Whose turn it is: one random id for each time a request takes the key.
  turn uuid not null,
  -- A request that has not answered by then is taken for dead.
  leased_until timestamptz not null,
  expires_at timestamptz not null,
  -- The answer; null while a request is being worked on.
  status integer,
  body text,
  -- Publishable and secret keys are apart: a public one cannot take a name a backend will use.
  key_kind text not null check (key_kind in ('publishable', 'secret')),
  primary key (organization_id, key_kind, key),
  check ((status is null) = (body is null))
);
create index idempotency_keys_expires_at_idx on idempotency_keys (expires_at);
