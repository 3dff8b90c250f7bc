import type { Queryable } from '../../postgres/pool.js'
import { stepSeconds } from './storeSteps.js'

/** Of whom: a distributor in a vault. */
export type LotsOf = { vaultId: number; distributorId: string }

/**
 * The sum of a distributor's lots of a vault after each instant at which it changed, before `to`: from the stored sum at the
 * last whole step before `from` on, whose instant is then the first. Without `from` all that was ever changed.
 */
export async function listShares(
  db: Queryable,
  { vaultId, distributorId, from, to }: LotsOf & { from?: Date; to: Date },
): Promise<{ at: Date; shares: string }[]> {
  const step = from && Math.floor(from.getTime() / 1_000 / stepSeconds)
  const begin =
    step === undefined
      ? db``
      : db`
        select to_timestamp(${step * stepSeconds}::bigint) as at, e.shares as moved from (
          select a.shares from attributed_steps a
          where a.distributor_id = ${distributorId} and a.vault_id = ${vaultId} and a.step < ${step}::bigint
          order by a.step desc limit 1) e
        union all`
  const since = step === undefined ? db`` : db`and c.block_timestamp >= to_timestamp(${step * stepSeconds}::bigint)`
  return db<{ at: Date; shares: string }[]>`
    select m.at, sum(sum(m.moved)) over (order by m.at)::text as shares from (
      ${begin}
      select c.block_timestamp as at, c.after - c.before as moved from lot_changes c
      where c.vault_id = ${vaultId} and c.distributor_id = ${distributorId} and c.block_timestamp < ${to} ${since}) m
    group by m.at order by m.at`
}

/** Each change of a distributor's lots of a vault before an instant, in the order of the chain. */
export async function listLotLevels(
  db: Queryable,
  { vaultId, distributorId, to }: LotsOf & { to: Date },
): Promise<{ at: Date; wallet: string; after: string }[]> {
  return db<{ at: Date; wallet: string; after: string }[]>`
    select block_timestamp as at, hex_text(wallet) as wallet, after::text as after from lot_changes
    where vault_id = ${vaultId} and distributor_id = ${distributorId} and block_timestamp < ${to}
    order by block_number, transaction_index`
}
