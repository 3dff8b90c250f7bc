import type { Queryable } from '../postgres/pool.js'
import { listShareSources } from '../prices/index.js'
import { vaultsOf } from '../vaults/configured/index.js'

export type UnpricedShare = {
  token: string
  vault: string
  blockNumber: number
  blockHash: string
  at: number
  priceNumerator: string
  priceExponent: number
  assetDecimals: number
  receiptDecimals: number
  assetUsd: string
  intervalSeconds: number
}

/** Snapshots with a price of the asset that give a share's price nobody has recorded yet, some of them, newest first. */
export async function listUnpricedShares(db: Queryable, chainId: number, limit: number): Promise<UnpricedShare[]> {
  const sources = await listShareSources(db, chainId)
  if (sources.length === 0) return []
  return db<UnpricedShare[]>`
    select t.token, t.vault, s.block_number as "blockNumber", hex_text(s.block_hash) as "blockHash",
      extract(epoch from s.block_timestamp)::bigint as at, s.price_numerator as "priceNumerator",
      s.price_exponent as "priceExponent", v.asset_decimals as "assetDecimals", v.receipt_decimals as "receiptDecimals",
      s.price_usd::text as "assetUsd", v.snapshot_interval_seconds as "intervalSeconds"
    from unnest(${sources.map(({ address }) => address)}::text[], ${sources.map(({ vault }) => vault)}::text[])
      as t (token, vault)
    join ${vaultsOf(db)} v on v.chain_id = ${chainId} and v.address = t.vault and lower(v.receipt_token) = t.token
    join vault_snapshots s on s.vault_id = v.id and s.price_usd is not null and s.total_supply > 0
    where not exists (
      select from price_observations o where o.chain_id = v.chain_id and o.address = t.token and o.rank = 2
        and o.observed_at = s.block_timestamp and o.withheld is null)
    order by s.block_timestamp desc limit ${limit}`
}
