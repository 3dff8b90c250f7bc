import type { Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import { valuedFlows } from './storeEarnings.js'
import type { FlowVault } from './storeMarks.js'

/** From the first instant up to the second, which is not part of it. */
export type Range = { from: Date; to: Date }

/** Sums of the flows of a wallet in a vault within a range, and what it held at both ends of it. As `VaultEarnings` has them. */
export type RangeSums = {
  vaultId: number
  deposited: string
  withdrawn: string
  /** Null where a flow of the range has no price of its time. */
  depositedUsd: string | null
  withdrawnUsd: string | null
  start: Held
  end: Held
}

/** The shares of a wallet before an instant, those that wait for a redemption included. */
export type Held = {
  shares: string
  /** Of the newest snapshot at or before the instant, or else of the first; null where there is none. */
  priceNumerator: string | null
  priceExponent: number | null
  /** The price of a whole unit of the asset at the instant. */
  priceUsd: string | null
  /** Whether no snapshot is newer. */
  isNewest: boolean
}

/** Sums what a wallet (lower-case) paid into each vault and took out within a range, by vault. */
export async function sumRange(
  db: Queryable,
  wallet: string,
  vaults: readonly Pick<FlowVault, 'id' | 'chainId'>[],
  { from, to }: Range,
): Promise<ReadonlyMap<number, RangeSums>> {
  if (vaults.length === 0) return new Map()
  const { relations } = await valuedFlows(db, wallet, vaults)
  const rows = await db<RangeSums[]>`
    with ${relations},
    placed as (
      select *, block_timestamp < ${from}::timestamptz as is_before, block_timestamp < ${to}::timestamptz as is_known,
        block_timestamp >= ${from}::timestamptz and block_timestamp < ${to}::timestamptz as is_within
      from valued),
    summed as (
      select vault_id, of_chain, asset,
        coalesce(sum(case when is_in then shares else -shares end) filter (where is_before), 0) as start_shares,
        coalesce(sum(case when is_in then shares else -shares end) filter (where is_known), 0) as end_shares,
        coalesce(sum(native) filter (where is_within and is_in), 0) as deposited,
        coalesce(sum(native) filter (where is_within and not is_in), 0) as withdrawn,
        case when bool_and(usd is not null or not (is_within and is_in))
          then coalesce(sum(usd) filter (where is_within and is_in), 0) end as deposited_usd,
        case when bool_and(usd is not null or not (is_within and not is_in))
          then coalesce(sum(usd) filter (where is_within and not is_in), 0) end as withdrawn_usd
      from placed group by vault_id, of_chain, asset),
    held as (
      select e.vault_id, i.is_start, json_build_object('shares', i.shares::text, 'priceNumerator',
        coalesce(s.price_numerator, b.price_numerator)::text, 'priceExponent', coalesce(s.price_exponent, b.price_exponent),
        'priceUsd', p.price_usd::text, 'isNewest', n.is_newer is null) as told
      from summed e
      cross join lateral (values (true, ${from}::timestamptz, e.start_shares), (false, ${to}::timestamptz, e.end_shares))
        i (is_start, at, shares)
      left join lateral (
        select price_numerator, price_exponent from ${snapshotsOf(db)} s
        where vault_id = e.vault_id and block_timestamp <= i.at order by block_timestamp desc limit 1) s on true
      left join lateral (
        select price_numerator, price_exponent from ${snapshotsOf(db)} s
        where vault_id = e.vault_id order by block_timestamp limit 1) b on s.price_numerator is null
      left join lateral (
        select true as is_newer from ${snapshotsOf(db)} s
        where vault_id = e.vault_id and block_timestamp > i.at limit 1) n on true
      left join lateral price_at(e.of_chain, e.asset, i.at) p on true)
    select e.vault_id as "vaultId", e.deposited, e.withdrawn, e.deposited_usd as "depositedUsd",
      e.withdrawn_usd as "withdrawnUsd", f.told as start, t.told as "end"
    from summed e
    join held f on f.vault_id = e.vault_id and f.is_start
    join held t on t.vault_id = e.vault_id and not t.is_start`
  return new Map(rows.map((row) => [row.vaultId, row]))
}
