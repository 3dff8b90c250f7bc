import type { Fragment, Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { shareMintsOf } from '../positions/index.js'

/** The version of the rules that brought the paid price. */
export const paidPriceVersion = 2

/** The share prices that were read where shares were minted, as statements of other rooms read them. */
export const shareReadingsOf = (db: Queryable): Fragment => db.view`(
  select vault_id, block_number, block_hash, block_timestamp, price_numerator, price_exponent from share_readings)`

export type ShareUnits = { assetDecimals: number; receiptDecimals: number }

/** The vault at an address (lower-case) of a chain. */
export async function findShareVault(
  db: Queryable,
  { chainId, address }: { chainId: number; address: string },
): Promise<(ShareUnits & { vaultId: number }) | undefined> {
  const [row] = await db<(ShareUnits & { vaultId: number })[]>`
    select id as "vaultId", asset_decimals as "assetDecimals", receipt_decimals as "receiptDecimals"
    from ${vaultsOf(db)} v where chain_id = ${chainId} and address = ${address}`
  return row
}

export type SnapshotRow = {
  at: Date
  blockNumber: number
  blockHash: string
  numerator: string
  exponent: number
  totalSupply: string
  isDust: boolean
  priceUsd: string | null
  observationId: number | null
}

/**
 * Snapshots of a vault up to `to` (included), from the last before `from` on; earlier ones too where that one is dust or has
 * no price.
 */
export async function listSnapshots(
  db: Queryable,
  { vaultId, from, to }: { vaultId: number; from: Date; to: Date },
): Promise<SnapshotRow[]> {
  return db<SnapshotRow[]>`
    with own as not materialized (
      select s.*, s.total_supply < v.dust_floor as dust from ${snapshotsOf(db)} s
      join ${vaultsOf(db)} v on v.id = s.vault_id where s.vault_id = ${vaultId}),
    first as (
      select least(
        (select block_timestamp from own where block_timestamp <= ${from} order by block_timestamp desc limit 1),
        (select block_timestamp from own where block_timestamp <= ${from} and not dust and price_usd is not null
          order by block_timestamp desc limit 1)) as at)
    select o.block_timestamp as at, o.block_number as "blockNumber", hex_text(o.block_hash) as "blockHash",
      o.price_numerator::text as numerator, o.price_exponent as exponent, o.total_supply::text as "totalSupply",
      o.dust as "isDust", o.price_usd::text as "priceUsd", o.price_observation_id as "observationId"
    from own o where o.block_timestamp >= coalesce((select at from first), '-infinity') and o.block_timestamp <= ${to}
    order by o.block_timestamp`
}

export type MintRow = {
  at: Date
  blockNumber: number
  blockHash: string
  transactionHash: string
  logIndex: number
  shares: string
  assets: string | null
}

/** Mints of a vault above a block, up to an instant (included), in the order of the chain. */
export async function listMints(
  db: Queryable,
  { vaultId, above, to }: { vaultId: number; above: number; to: Date },
): Promise<MintRow[]> {
  return db<MintRow[]>`
    select m.block_timestamp as at, m.block_number as "blockNumber", hex_text(m.block_hash) as "blockHash",
      hex_text(m.transaction_hash) as "transactionHash", m.log_index as "logIndex", m.shares::text as shares,
      m.assets::text as assets
    from ${shareMintsOf(db)} m
    where m.vault_id = ${vaultId} and m.block_number > ${above} and m.block_timestamp <= ${to}
    order by m.block_number, m.log_index`
}

/** The vaults that minted shares in a range. */
export async function listVaultsWithMints(
  db: Queryable,
  { from, to }: { from: Date; to: Date },
): Promise<{ vaultId: number; chainId: number; vaultAddress: string }[]> {
  return db<{ vaultId: number; chainId: number; vaultAddress: string }[]>`
    select v.id as "vaultId", v.chain_id as "chainId", v.address as "vaultAddress" from ${vaultsOf(db)} v
    where exists (
      select from ${shareMintsOf(db)} m
      where m.vault_id = v.id and m.block_timestamp > ${from} and m.block_timestamp <= ${to})
    order by v.chain_id, v.id`
}

export type ReadingRow = { blockNumber: number; blockHash: string; numerator: string | null; exponent: number }

/** Readings of a vault's share above a block, up to an instant (included); null: it was tried and could not be read. */
export async function listReadings(
  db: Queryable,
  { vaultId, above, to }: { vaultId: number; above: number; to: Date },
): Promise<ReadingRow[]> {
  return db<ReadingRow[]>`
    select block_number as "blockNumber", hex_text(block_hash) as "blockHash", price_numerator::text as numerator,
      price_exponent::int as exponent
    from share_readings where vault_id = ${vaultId} and block_number > ${above} and block_timestamp <= ${to}
    union all
    select block_number, hex_text(block_hash), null, 0 from share_reading_gaps
    where vault_id = ${vaultId} and block_number > ${above} and block_timestamp <= ${to} and tried_at > '-infinity'
    order by 1`
}
