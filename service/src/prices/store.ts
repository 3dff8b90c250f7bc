import type { Queryable } from '../postgres/pool.js'

/** What a source said a token was worth, at or before the instant asked for. */
export type PriceObservation = { id: number; priceUsd: string; source: string; observedAt: Date }

export type TokenKey = { chainId: number; address: string }

const columns = (db: Queryable) => db`id, price_usd::text as "priceUsd", source, observed_at as "observedAt"`

export async function findPriceAt(db: Queryable, token: TokenKey, at: Date): Promise<PriceObservation | undefined> {
  const rows = await db<PriceObservation[]>`
    select ${columns(db)} from price_observations
    where chain_id = ${token.chainId} and address = ${token.address} and observed_at <= ${at}
    order by observed_at desc, id desc limit 1`
  return rows[0]
}

export async function findPricesAt(
  db: Queryable,
  chainId: number,
  addresses: readonly string[],
  at: Date,
): Promise<(PriceObservation & { address: string })[]> {
  return db<(PriceObservation & { address: string })[]>`
    select distinct on (address) address, ${columns(db)} from price_observations
    where chain_id = ${chainId} and address = any(${[...addresses]}) and observed_at <= ${at}
    order by address, observed_at desc, id desc`
}

export type NewObservation = TokenKey & {
  priceUsd: string
  source: string
  observedAt: Date
  blockNumber?: number
  blockHash?: string
}

/** Appends an observation unless the same source already said the same for the same instant. */
export async function recordObservation(db: Queryable, observation: NewObservation): Promise<void> {
  const { chainId, address, priceUsd, source, observedAt } = observation
  await db`
    insert into price_observations (chain_id, address, price_usd, source, observed_at, block_number, block_hash)
    select ${chainId}, ${address}, ${priceUsd}::numeric, ${source}, ${observedAt}, ${observation.blockNumber ?? null},
      ${observation.blockHash ?? null}
    where not exists (
      select from price_observations where chain_id = ${chainId} and address = ${address} and source = ${source}
        and observed_at = ${observedAt} and price_usd = ${priceUsd}::numeric
        and id = (select max(id) from price_observations where chain_id = ${chainId} and address = ${address}
          and source = ${source} and observed_at = ${observedAt}))`
}
