-- Owner: limits. Where in the log of the server the last durable write of each key is, so that a replica serves the key only once
-- it has replayed that far. A write marks the row in its own transaction, which cannot know where its commit will stand. The next
-- charge of the key sees the mark only after that commit was flushed, so what is flushed by then is far enough.
alter table budgets
  add column last_write pg_lsn,
  add column has_unplaced_write boolean not null default false;

drop function charge_by_address(uuid, timestamptz, timestamptz, bigint, bigint, bigint, bigint, text[], bigint[], bigint[], bigint[]);

-- As before, and tells where the last write of the key is.
create function charge_by_address(
  p_key uuid, p_hour timestamptz, p_month timestamptz, p_hourly bigint, p_monthly bigint, p_need bigint, p_take bigint,
  p_networks text[], p_limits bigint[], p_needs bigint[], p_takes bigint[],
  out charged boolean, out hour_at timestamptz, out hour_used bigint, out month_at timestamptz, out month_used bigint,
  out network_used bigint[], out last_write pg_lsn
) language plpgsql as $$
declare
  kept budgets%rowtype;
begin
  if p_take > 0 then
    insert into budgets (key_id, hour_at, hour_used, month_at, month_used) values (p_key, p_hour, 0, p_month, 0)
      on conflict do nothing;
    select * into kept from budgets where key_id = p_key for no key update;
  else
    select * into kept from budgets where key_id = p_key;
  end if;
  hour_at := greatest(kept.hour_at, p_hour);
  hour_used := case when kept.hour_at >= p_hour then kept.hour_used else 0 end;
  month_at := greatest(kept.month_at, p_month);
  month_used := case when kept.month_at >= p_month then kept.month_used else 0 end;
  last_write := case when kept.has_unplaced_write then pg_current_wal_flush_lsn() else kept.last_write end;
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
      month_at = charge_by_address.month_at, month_used = charge_by_address.month_used,
      last_write = charge_by_address.last_write, has_unplaced_write = false
    where b.key_id = p_key;
  insert into address_budgets as a (key_id, network, hour_at, used)
    select p_key, n.network, charge_by_address.hour_at, n.used + n.take
    from unnest(p_networks, network_used, p_takes) as n (network, used, take) where n.take > 0
    on conflict (key_id, network) do update set hour_at = excluded.hour_at, used = excluded.used;
  select array_agg(n.used + n.take order by n.at) into network_used
    from unnest(network_used, p_takes) with ordinality as n (used, take, at);
end $$;
