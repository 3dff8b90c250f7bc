import type { Queryable } from '../postgres/pool.js'
import { type HolderSetting, listOwnAddresses, vaultsOf } from '../vaults/configured/index.js'

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
  const [row] = await db<
    (Omit<StreamTarget, 'own'> & {
      escrow: string | null
      contracts: Record<string, string>
      holders: HolderSetting[]
    })[]
  >`
    select v.chain_id as "chainId", v.kind, v.address, lower(v.receipt_token) as token, lower(v.asset) as asset, v.asset_decimals as "assetDecimals",
      v.receipt_decimals as "receiptDecimals", v.escrow, v.contracts, v.holders,
      v.snapshot_interval_seconds as "snapshotIntervalSeconds", extract(epoch from p.seen_to)::bigint as "seenTo"
    from ${vaultsOf(db)} v left join snapshot_progress p on p.vault_id = v.id where v.id = ${vaultId}`
  if (!row) return undefined
  const { escrow, contracts, holders, ...target } = row
  const { address } = target
  return { ...target, own: listOwnAddresses({ address, contracts, escrow, holders }) }
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
