import type { Queryable } from '../postgres/pool.js'

/** The price of a token by a source, at or before the requested instant. `priceUsd` is a plain decimal. */
export type PriceObservation = { id: number; priceUsd: string; source: string; observedAt: Date }

export type TokenKey = { chainId: number; address: string }

/** A token and the instant its price is wanted of. */
export type PriceAsk = TokenKey & { at: Date }

const columns = (db: Queryable) => db`p.id, p.price_usd::text as "priceUsd", p.source, p.observed_at as "observedAt"`

/** Prices of tokens at instants, in the order of the request; undefined for missing prices. */
export async function listPricesAt(
  db: Queryable,
  asked: readonly PriceAsk[],
): Promise<(PriceObservation | undefined)[]> {
  if (asked.length === 0) return []
  const rows = await db<(PriceObservation & { place: number })[]>`
    select a.place::int as place, ${columns(db)}
    from unnest(${asked.map(({ chainId }) => chainId)}::bigint[], ${asked.map(({ address }) => address)}::text[],
      ${asked.map(({ at }) => at.toISOString())}::timestamptz[]) with ordinality as a (chain_id, address, at, place)
    cross join lateral price_at(a.chain_id, a.address, a.at) p`
  const answers: (PriceObservation | undefined)[] = asked.map(() => undefined)
  for (const { place, ...observation } of rows) answers[place - 1] = observation
  return answers
}

/** The order in which the sources of a token are asked. */
export const ranks = { peg: 0, feed: 1, share: 2, provider: 3 } as const

export type NewObservation = TokenKey & {
  /** A plain decimal; null: the source says nothing from then on. */
  priceUsd: string | null
  source: string
  observedAt: Date
  blockNumber?: number
  blockHash?: string
  /** Default: that of a provider. */
  rank?: (typeof ranks)[keyof typeof ranks]
  /** The last instant it may price; absent: no end. */
  validUntil?: Date
}

/** Appends an observation unless the same source already said the same for the same instant. */
export async function recordObservation(db: Queryable, observation: NewObservation): Promise<void> {
  await recordObservations(db, [observation])
}

/** The same for many; only one for each source and instant. Returns how many were new. */
export async function recordObservations(db: Queryable, observations: readonly NewObservation[]): Promise<number> {
  if (observations.length === 0) return 0
  const rows = observations.map((each) => ({
    chain_id: each.chainId,
    address: each.address,
    price_usd: each.priceUsd,
    source: each.source,
    observed_at: each.observedAt.toISOString(),
    block_number: each.blockNumber ?? null,
    block_hash: each.blockHash ?? null,
    rank: each.rank ?? ranks.provider,
    valid_until: each.validUntil?.toISOString() ?? null,
  }))
  const added = await db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at, block_number, block_hash, rank,
      valid_until)
    select r.chain_id, r.address, r.price_usd, r.source, r.observed_at, r.block_number, r.block_hash, r.rank, r.valid_until
    from jsonb_to_recordset(${db.json(rows)}) as r (chain_id bigint, address text, price_usd numeric, source text,
      observed_at timestamptz, block_number bigint, block_hash text, rank smallint, valid_until timestamptz)
    left join lateral (
      select price_usd, true as found from price_observations p
      where p.chain_id = r.chain_id and p.address = r.address and p.rank = r.rank and p.observed_at = r.observed_at
        and p.source = r.source and p.withheld is distinct from 'orphaned'
      order by p.id desc limit 1) last on true
    where last.found is null or last.price_usd is distinct from r.price_usd
    order by r.observed_at`
  return added.count
}
