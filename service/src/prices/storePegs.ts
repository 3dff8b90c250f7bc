import type { Queryable } from '../postgres/pool.js'
import { ranks, type TokenKey } from './store.js'

/** Ends the pegs of tokens from an instant on. */
export async function endPegs(db: Queryable, tokens: readonly TokenKey[], now: Date): Promise<void> {
  if (tokens.length === 0) return
  await db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at, rank)
    select t.chain_id, t.address, null, 'peg', ${now}, ${ranks.peg}
    from unnest(${tokens.map(({ chainId }) => chainId)}::bigint[], ${tokens.map(({ address }) => address)}::text[])
      as t (chain_id, address)
    cross join lateral (
      select o.price_usd from price_observations o
      where o.chain_id = t.chain_id and o.address = t.address and o.rank = ${ranks.peg} and o.observed_at <= ${now}
      order by o.observed_at desc, o.id desc limit 1) last
    where last.price_usd is not null`
}

/** The last record of a token's peg. */
export async function findNewestPeg(
  db: Queryable,
  { chainId, address }: TokenKey,
): Promise<{ priceUsd: string | null; observedAt: Date } | undefined> {
  const [row] = await db<{ priceUsd: string | null; observedAt: Date }[]>`
    select price_usd::text as "priceUsd", observed_at as "observedAt" from price_observations
    where chain_id = ${chainId} and address = ${address} and rank = ${ranks.peg}
    order by observed_at desc, id desc limit 1`
  return row
}
