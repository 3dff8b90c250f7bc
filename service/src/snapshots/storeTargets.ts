import type { Queryable } from '../postgres/pool.js'
import { listOwnAddresses, vaultsOf } from '../vaults/configured/index.js'

/** A vault whose holders are rewarded. */
export type StreamTarget = {
  chainId: number
  kind: string
  address: string
  /** Whose holders are rewarded. */
  token: string
  asset: string
  assetDecimals: number
  receiptDecimals: number
  /** The vault and what holds shares for it: nobody to reward. */
  own: readonly string[]
  snapshotIntervalSeconds: number
  /** The newest instant of its grid that was read; null: none, or it is never read. */
  seenTo: number | null
}

export async function findStreamTarget(db: Queryable, vaultId: number): Promise<StreamTarget | undefined> {
  const [row] = await db<(Omit<StreamTarget, 'own'> & { escrow: string | null; contracts: Record<string, string> })[]>`
    select v.chain_id as "chainId", v.kind, v.address, lower(v.receipt_token) as token, lower(v.asset) as asset, v.asset_decimals as "assetDecimals",
      v.receipt_decimals as "receiptDecimals", v.escrow, v.contracts,
      v.snapshot_interval_seconds as "snapshotIntervalSeconds", extract(epoch from p.seen_to)::bigint as "seenTo"
    from ${vaultsOf(db)} v left join snapshot_progress p on p.vault_id = v.id where v.id = ${vaultId}`
  if (!row) return undefined
  const { escrow, contracts, ...target } = row
  const { address } = target
  return { ...target, own: listOwnAddresses({ address, contracts, escrow }) }
}

/** Whether share prices of a time are still to be read that was left out, and some were since an instant. */
export async function isPastAwaited(
  db: Queryable,
  { vaultId, from, to, since }: { vaultId: number; from: number; to: number; since: Date },
): Promise<boolean> {
  const gaps = await db`
    select from snapshot_gaps where vault_id = ${vaultId} and from_at <= to_timestamp(${to})
      and to_at >= to_timestamp(${from}) and greatest(opened_at, read_at) > ${since} limit 1`
  return gaps.length > 0
}

/** The worth of a share from an instant (unix seconds) on: the newest share price times the newest price of the asset. */
export type ValueStep = {
  at: number
  blockNumber: number
  numerator: bigint
  exponent: number
  priceUsd: string
  observationId: number | null
}

/**
 * Every step of a share's value from what it was at `from`, up to `to`. A snapshot of a vault with too few shares is no
 * reading; one without a price keeps the price before it.
 */
export async function listValueSteps(
  db: Queryable,
  { vaultId, from, to }: { vaultId: number; from: number; to: number },
): Promise<ValueStep[]> {
  const rows = await db<(Omit<ValueStep, 'numerator'> & { numerator: string })[]>`
    with readings as (
      select s.* from vault_snapshots s join ${vaultsOf(db)} v on v.id = s.vault_id
      where s.vault_id = ${vaultId} and s.total_supply >= v.dust_floor),
    used as (
      select * from readings where block_timestamp > to_timestamp(${from}) and block_timestamp <= to_timestamp(${to})
      union
      select * from (select * from readings where block_timestamp <= to_timestamp(${from})
        order by block_timestamp desc limit 1) newest
      union
      select * from (select * from readings where block_timestamp <= to_timestamp(${from}) and price_usd is not null
        order by block_timestamp desc limit 1) priced),
    filled as (
      select u.*, count(price_usd) over (order by block_timestamp) as prices from used u)
    select extract(epoch from f.block_timestamp)::bigint as at, f.block_number as "blockNumber",
      f.price_numerator as numerator, f.price_exponent as exponent,
      (first_value(f.price_usd) over w)::text as "priceUsd", first_value(f.price_observation_id) over w as "observationId"
    from filled f where f.prices > 0
    window w as (partition by f.prices order by f.block_timestamp) order by f.block_timestamp`
  return rows.map((row) => ({ ...row, numerator: BigInt(row.numerator) }))
}
