import { type Database, inTransaction, type Queryable } from '../postgres/pool.js'
import { type NewObservation, ranks, recordObservations } from './store.js'

/** How far an HTTP price may be from the one before, and how near another has to be to a suspect to agree with it. */
const jump = '0.20'
const agreement = '0.05'

/** One lock for the whole service: one process at a time judges providers' prices. */
const providerLock = 6_736_003

/**
 * Appends what a provider said. A price more than 20 % off the one before is kept as suspect and prices nothing; another
 * of another time within 5 % of it agrees, and both count from then on.
 */
export async function recordProvided(db: Database, observations: readonly NewObservation[]): Promise<void> {
  if (observations.length === 0) return
  await inTransaction(db, async (tx) => {
    await tx`select pg_advisory_xact_lock(${providerLock})`
    for (const observation of observations) await recordOne(tx, observation)
  })
}

type Before = { usual: boolean | null; suspects: number[] }

async function recordOne(tx: Queryable, observation: NewObservation): Promise<void> {
  const { chainId, address, source, observedAt, priceUsd } = observation
  const added = await recordObservations(tx, [{ ...observation, rank: ranks.provider }])
  if (added === 0) return
  const [before] = await tx<Before[]>`
    with last as (
      select observed_at, price_usd from price_observations
      where chain_id = ${chainId} and address = ${address} and rank = ${ranks.provider} and source = ${source}
        and withheld is null and price_usd is not null and observed_at < ${observedAt}
      order by observed_at desc, id desc limit 1)
    select (select abs(${priceUsd}::numeric - price_usd) <= price_usd * ${jump}::numeric from last) as usual,
      array(select o.id from price_observations o
        where o.chain_id = ${chainId} and o.address = ${address} and o.source = ${source} and o.withheld = 'suspect'
          and o.observed_at < ${observedAt} and o.observed_at > coalesce((select observed_at from last), '-infinity')
          and abs(${priceUsd}::numeric - o.price_usd) <= o.price_usd * ${agreement}::numeric) as suspects`
  if (before?.usual !== false) return
  if (before.suspects.length > 0)
    await tx`update price_observations set withheld = null where id = any(${before.suspects}::bigint[])`
  else
    await tx`
      update price_observations set withheld = 'suspect'
      where chain_id = ${chainId} and address = ${address} and source = ${source} and observed_at = ${observedAt}
        and rank = ${ranks.provider} and withheld is null`
}

/** Accepts the suspect prices of a token on an operator's word: they price from their time on. Returns how many. */
export async function acceptSuspects(
  db: Queryable,
  { chainId, address }: { chainId: number; address: string },
): Promise<number> {
  const done = await db`
    update price_observations set withheld = null
    where chain_id = ${chainId} and address = ${address} and withheld = 'suspect'`
  return done.count
}

export type Suspect = { chainId: number; address: string; priceUsd: string; source: string; observedAt: Date }

/** Prices that wait for another to agree with them. */
export async function listSuspects(db: Queryable): Promise<Suspect[]> {
  return db<Suspect[]>`
    select o.chain_id as "chainId", o.address, o.price_usd::text as "priceUsd", o.source, o.observed_at as "observedAt"
    from price_observations o
    where o.withheld = 'suspect' and not exists (
      select from price_observations n where n.chain_id = o.chain_id and n.address = o.address and n.rank = o.rank
        and n.observed_at > o.observed_at and n.withheld is null)
    order by o.chain_id, o.address, o.observed_at`
}
