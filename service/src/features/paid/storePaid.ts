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

/** A vault between two instants. */
export type VaultRange = { vaultId: number; from: Date; to: Date }

/** A row with the place of what it was asked for. */
type Placed<Row> = Row & { place: number }

/** The rows of each of some asks, in their order. */
function sortByPlace<Row extends object>(rows: readonly Placed<Row>[], count: number): Row[][] {
  const found = Array.from({ length: count }, (): Row[] => [])
  for (const { place, ...row } of rows) found[place - 1]?.push(row as unknown as Row)
  return found
}

/** Vaults `r` of a statement, each between two instants. */
const rangeSet = (db: Queryable, ranges: readonly VaultRange[]) => db`
  unnest(${ranges.map(({ vaultId }) => vaultId)}::int[], ${ranges.map(({ from }) => from.toISOString())}::timestamptz[],
    ${ranges.map(({ to }) => to.toISOString())}::timestamptz[]) with ordinality as r (id, from_at, to_at, place)`

/**
 * Snapshots of vaults, each up to `to` (included), from the last before `from` on; earlier ones too where that one is dust or
 * has no price.
 */
export async function listSnapshots(db: Queryable, ranges: readonly VaultRange[]): Promise<SnapshotRow[][]> {
  const rows = await db<Placed<SnapshotRow>[]>`
    select r.place::int as place, o.block_timestamp as at, o.block_number as "blockNumber", hex_text(o.block_hash) as "blockHash",
      o.price_numerator::text as numerator, o.price_exponent as exponent, o.total_supply::text as "totalSupply",
      o.total_supply < v.dust_floor as "isDust", o.price_usd::text as "priceUsd",
      o.price_observation_id as "observationId"
    from ${rangeSet(db, ranges)} join ${vaultsOf(db)} v on v.id = r.id
    cross join lateral (
      select least(
        (select s.block_timestamp from ${snapshotsOf(db)} s where s.vault_id = r.id and s.block_timestamp <= r.from_at
          order by s.block_timestamp desc limit 1),
        (select s.block_timestamp from ${snapshotsOf(db)} s where s.vault_id = r.id and s.block_timestamp <= r.from_at
          and s.total_supply >= v.dust_floor and s.price_usd is not null
          order by s.block_timestamp desc limit 1)) as at) first
    cross join lateral (
      select * from ${snapshotsOf(db)} s where s.vault_id = r.id
        and s.block_timestamp >= coalesce(first.at, '-infinity') and s.block_timestamp <= r.to_at
      order by s.block_timestamp offset 0) o
    order by r.place, o.block_timestamp`
  return sortByPlace(rows, ranges.length)
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

/** A vault above a block, up to an instant (included). */
export type VaultStretch = { vaultId: number; above: number; to: Date }

/** Vaults `r` of a statement, each above a block. */
const stretchSet = (db: Queryable, stretches: readonly VaultStretch[]) => db`
  unnest(${stretches.map(({ vaultId }) => vaultId)}::int[], ${stretches.map(({ above }) => above)}::bigint[],
    ${stretches.map(({ to }) => to.toISOString())}::timestamptz[]) with ordinality as r (id, above, to_at, place)`

/** Mints of vaults, in the order of the chain. */
export async function listMints(db: Queryable, stretches: readonly VaultStretch[]): Promise<MintRow[][]> {
  const rows = await db<Placed<MintRow>[]>`
    select r.place::int as place, m.block_timestamp as at, m.block_number as "blockNumber", hex_text(m.block_hash) as "blockHash",
      hex_text(m.transaction_hash) as "transactionHash", m.log_index as "logIndex", m.shares::text as shares,
      m.assets::text as assets
    from ${stretchSet(db, stretches)}
    join ${shareMintsOf(db)} m on m.vault_id = r.id and m.block_number > r.above and m.block_timestamp <= r.to_at
    order by r.place, m.block_number, m.log_index`
  return sortByPlace(rows, stretches.length)
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

/** Readings of shares; null: it was tried and could not be read. */
export async function listReadings(db: Queryable, stretches: readonly VaultStretch[]): Promise<ReadingRow[][]> {
  const rows = await db<Placed<ReadingRow>[]>`
    with r as materialized (select * from ${stretchSet(db, stretches)})
    select r.place::int as place, block_number as "blockNumber", hex_text(block_hash) as "blockHash",
      price_numerator::text as numerator, price_exponent::int as exponent
    from r join share_readings on vault_id = r.id and block_number > r.above and block_timestamp <= r.to_at
    union all
    select r.place::int, block_number, hex_text(block_hash), null, 0
    from r join share_reading_gaps on vault_id = r.id and block_number > r.above and block_timestamp <= r.to_at
      and tried_at > '-infinity'
    order by 1, 2`
  return sortByPlace(rows, stretches.length)
}
