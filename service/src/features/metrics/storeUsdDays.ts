import type { Queryable } from '../../postgres/pool.js'
import { stepSeconds } from './storeSteps.js'

/** Of whom: a distributor in a vault, before an instant. */
export type LotsOf = { vaultId: number; distributorId: string; to: Date }

/** Lots `r` of a statement. */
const lotSet = (db: Queryable, asked: readonly (LotsOf & { step?: number })[]) => db`
  unnest(${asked.map(({ vaultId }) => vaultId)}::int[], ${asked.map(({ distributorId }) => distributorId)}::text[],
    ${asked.map(({ to }) => to.toISOString())}::timestamptz[], ${asked.map(({ step }) => step ?? 0)}::bigint[])
    with ordinality as r (vault_id, distributor_id, to_at, step, place)`

/**
 * The sum of lots after each instant at which it changed, of each of some distributors and vaults, in their order: from the
 * stored sum at the last whole step before `from` on, whose instant is then the first.
 */
export async function listShares(
  db: Queryable,
  asked: readonly (LotsOf & { from: Date })[],
): Promise<{ at: Date; shares: string }[][]> {
  const steps = asked.map((each) => ({ ...each, step: Math.floor(each.from.getTime() / 1_000 / stepSeconds) }))
  const rows = await db<{ place: number; at: Date; shares: string }[]>`
    with r as materialized (select * from ${lotSet(db, steps)})
    select m.place::int as place, m.at, sum(sum(m.moved)) over (partition by m.place order by m.at)::text as shares from (
      select r.place, to_timestamp(r.step * ${stepSeconds}::bigint) as at, e.shares as moved from r cross join lateral (
        select a.shares from attributed_steps a
        where a.distributor_id = r.distributor_id and a.vault_id = r.vault_id and a.step < r.step
        order by a.step desc limit 1) e
      union all
      select r.place, c.at, c.moved from r cross join lateral (
        select c.block_timestamp as at, c.after - c.before as moved from lot_changes c
        where c.distributor_id = r.distributor_id and c.vault_id = r.vault_id and c.block_timestamp < r.to_at
          and c.block_timestamp >= to_timestamp(r.step * ${stepSeconds}::bigint) offset 0) c) m
    group by m.place, m.at order by m.place, m.at`
  const found = asked.map((): { at: Date; shares: string }[] => [])
  for (const { place, at, shares } of rows) found[place - 1]?.push({ at, shares })
  return found
}

/** Each change of a distributor's lots of a vault before an instant, in the order of the chain. */
export async function listLotLevels(
  db: Queryable,
  { vaultId, distributorId, to }: LotsOf,
): Promise<{ at: Date; wallet: string; after: string }[]> {
  return db<{ at: Date; wallet: string; after: string }[]>`
    select block_timestamp as at, hex_text(wallet) as wallet, after::text as after from lot_changes
    where vault_id = ${vaultId} and distributor_id = ${distributorId} and block_timestamp < ${to}
    order by block_number, transaction_index`
}
