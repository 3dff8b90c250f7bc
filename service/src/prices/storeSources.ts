import type { Queryable } from '../postgres/pool.js'
import type { Feed } from './feeds.js'
import { ranks, type TokenKey } from './store.js'

/** The feeds of a chain's tokens. */
export async function listFeeds(db: Queryable, chainId: number): Promise<Feed[]> {
  return db<Feed[]>`
    select chain_id as "chainId", address, price_feed->>'address' as feed,
      (price_feed->>'heartbeatSeconds')::int as "heartbeatSeconds"
    from tokens where chain_id = ${chainId} and price_feed is not null order by address`
}

/** Tokens whose price follows from a vault they are a share of. */
export async function listShareSources(db: Queryable, chainId: number): Promise<{ address: string; vault: string }[]> {
  return db<{ address: string; vault: string }[]>`
    select address, price_vault as vault from tokens
    where chain_id = ${chainId} and price_vault is not null order by address`
}

/** Tokens the price provider knows, with what it calls them. */
export async function listProvided(db: Queryable): Promise<(TokenKey & { priceId: string })[]> {
  return db<(TokenKey & { priceId: string })[]>`
    select chain_id as "chainId", address, price_id as "priceId" from tokens
    where price_id is not null order by price_id, chain_id, address`
}

/** The walk through a feed's rounds: `next` down to above `stop`, begun at `newest`; `next` null: it is done. */
export type Walk = { next: bigint | null; newest: bigint; stop: bigint }

/** Feeds of a chain with how far their past is read; no walk: nothing is. */
export async function listFeedHistories(
  db: Queryable,
  chainId: number,
): Promise<(Feed & { walk: Walk | undefined })[]> {
  const rows = await db<(Feed & { next: string | null; newest: string | null; stop: string | null })[]>`
    select t.chain_id as "chainId", t.address, (t.price_feed->>'address') as feed,
      (t.price_feed->>'heartbeatSeconds')::int as "heartbeatSeconds", h.next_round::text as next,
      h.newest_round::text as newest, h.stop_round::text as stop
    from tokens t
    left join price_histories h on h.chain_id = t.chain_id and h.address = t.address
      and h.source = 'feed:' || (t.price_feed->>'address')
    where t.chain_id = ${chainId} and t.price_feed is not null order by t.address`
  return rows.map(({ next, newest, stop, ...feed }) => ({
    ...feed,
    walk:
      newest === null
        ? undefined
        : { next: next === null ? null : BigInt(next), newest: BigInt(newest), stop: BigInt(stop ?? 0) },
  }))
}

/** A token the provider knows. Its past is read in Unix seconds, `next` up to `newest`; `next` null: it is done. */
export type ProvidedHistory = TokenKey & {
  priceId: string
  walk: { next: number | null; newest: number } | undefined
  /** Whether it could not be read at the last look. */
  isFailing: boolean
}

/** Tokens the provider knows with how far their past is read. */
export async function listProvidedHistories(db: Queryable, source: string): Promise<ProvidedHistory[]> {
  type Row = Omit<ProvidedHistory, 'walk'> & { next: number | null; newest: number | null }
  const rows = await db<Row[]>`
    select t.chain_id as "chainId", t.address, t.price_id as "priceId", h.next_round::bigint as next,
      h.newest_round::bigint as newest, h.problem is not null as "isFailing"
    from tokens t
    left join price_histories h on h.chain_id = t.chain_id and h.address = t.address and h.source = ${source}
    where t.price_id is not null order by t.price_id, t.chain_id, t.address`
  return rows.map(({ next, newest, ...token }) => ({
    ...token,
    walk: newest === null ? undefined : { next, newest },
  }))
}

/** Notes how far the past of a token is read at a provider, and why the last look failed. */
export async function recordProvidedWalk(
  db: Queryable,
  { chainId, address }: TokenKey,
  walk: { source: string; next: number | null; newest: number; problem?: string },
): Promise<void> {
  await db`
    insert into price_histories (chain_id, address, source, next_round, newest_round, problem)
    values (${chainId}, ${address}, ${walk.source}, ${walk.next}, ${walk.newest}, ${walk.problem ?? null})
    on conflict (chain_id, address, source) do update set next_round = excluded.next_round,
      newest_round = excluded.newest_round, problem = excluded.problem`
}

/** Notes how far the past of a feed is read. */
export async function recordWalk(
  db: Queryable,
  { chainId, address }: TokenKey,
  { source, walk, problem }: { source: string; walk: Walk; problem?: string | undefined },
): Promise<void> {
  await db`
    insert into price_histories (chain_id, address, source, next_round, newest_round, stop_round, problem)
    values (${chainId}, ${address}, ${source}, ${walk.next === null ? null : String(walk.next)},
      ${String(walk.newest)}, ${String(walk.stop)}, ${problem ?? null})
    on conflict (chain_id, address, source) do update set next_round = excluded.next_round,
      newest_round = excluded.newest_round, stop_round = excluded.stop_round,
      problem = coalesce(excluded.problem, price_histories.problem)`
}

/** Observations of dropped blocks price nothing any more; earlier choices stay. */
export const priceObservations = {
  name: 'prices',
  rewind: async (tx: Queryable, { chainId, number }: { chainId: number; number: number }): Promise<void> => {
    await tx`
      update price_observations set withheld = 'orphaned'
      where chain_id = ${chainId} and block_number > ${number} and withheld is distinct from 'orphaned'`
  },
}

export type UnpricedToken = TokenKey & { symbol: string; since: Date | null }

/** Assets of vaults without a price now; `since`: when there last was one. */
export async function listUnpricedAssets(
  db: Queryable,
  assets: readonly TokenKey[],
  at: Date,
): Promise<UnpricedToken[]> {
  if (assets.length === 0) return []
  return db<UnpricedToken[]>`
    select a.chain_id as "chainId", a.address, coalesce(t.symbol, '') as symbol,
      (select max(o.observed_at) from price_observations o where o.chain_id = a.chain_id and o.address = a.address
        and o.withheld is null and o.price_usd is not null) as since
    from (select distinct * from unnest(${assets.map(({ chainId }) => chainId)}::bigint[],
      ${assets.map(({ address }) => address)}::text[]) as a (chain_id, address)) a
    left join tokens t on t.chain_id = a.chain_id and t.address = a.address
    where not exists (select from price_at(a.chain_id, a.address, ${at})) order by 1, 2`
}

/** An observation that follows from a snapshot of a vault whose share the token is. */
export type ShareObservation = { id: number; chainId: number; vault: string; at: Date }

/** Those of some observations that follow from the share price of a vault. */
export async function listShareObservations(db: Queryable, ids: readonly number[]): Promise<ShareObservation[]> {
  if (ids.length === 0) return []
  return db<ShareObservation[]>`
    select id, chain_id as "chainId", substr(source, 7) as vault, observed_at as at from price_observations
    where id = any(${[...ids]}::bigint[]) and rank = ${ranks.share} and starts_with(source, 'share:')`
}
