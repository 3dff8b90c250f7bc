import type { Queryable } from '../postgres/pool.js'
import type { TokenKey } from './store.js'

/** The price of a token from an instant (unix seconds) on, and the observation that says so. */
export type ObservedStep = { at: number; priceUsd: string; observationId: number }

/**
 * Every step of a token's price from what it was at `from`, up to `to`. Where every source has gone stale, the newest
 * observation goes on, however old.
 */
export async function listPriceSteps(
  db: Queryable,
  { chainId, address }: TokenKey,
  { from, to }: { from: number; to: number },
): Promise<ObservedStep[]> {
  const rows = await db<ObservedStep[]>`
    with instants as (
      select to_timestamp(${from}) as at
      union select to_timestamp(ceil(extract(epoch from observed_at))) from price_observations
        where chain_id = ${chainId} and address = ${address} and withheld is null
          and observed_at > to_timestamp(${from}) and observed_at <= to_timestamp(${to})
      union select to_timestamp(floor(extract(epoch from valid_until)) + 1) from price_observations
        where chain_id = ${chainId} and address = ${address} and withheld is null
          and valid_until > to_timestamp(${from}) and valid_until < to_timestamp(${to}))
    select extract(epoch from i.at)::bigint as at, coalesce(p.price_usd, old.price_usd)::text as "priceUsd",
      coalesce(p.id, old.id) as "observationId"
    from instants i
    left join lateral price_at(${chainId}, ${address}, i.at) p on true
    left join lateral (
      select o.id, o.price_usd from price_observations o
      where p.id is null and o.chain_id = ${chainId} and o.address = ${address} and o.observed_at <= i.at
        and o.withheld is null and o.price_usd is not null
      order by o.observed_at desc, o.rank, o.id desc limit 1) old on true
    where coalesce(p.id, old.id) is not null and i.at <= to_timestamp(${to}) order by i.at`
  return rows.filter((row, index) => row.priceUsd !== rows[index - 1]?.priceUsd)
}
