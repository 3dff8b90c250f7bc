import type { Fragment, Queryable } from '../postgres/pool.js'
import type { Header } from '../rpc/raw.js'
import type { Observations } from '../sync/projection.js'
import { vaultsOf } from '../vaults/configured/index.js'
import type { ObservedVault, VaultFigures } from '../vaults/index.js'
import { removeIdentitiesAbove } from './storeIdentities.js'

/** The snapshots of vaults, as statements of other rooms read them. */
export const snapshotsOf = (db: Queryable): Fragment => db.view`(
  select vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply, price_numerator, price_exponent,
    price_observation_id, price_usd
  from vault_snapshots)`

type SnapshotBlock = Pick<Header, 'number' | 'hash' | 'timestamp'>

export type NewSnapshot = { chainId: number; vaultAddress: string; block: SnapshotBlock; figures: VaultFigures }

/**
 * Records what vaults answered at a block, with the price of the asset then where there is one. The same block again adds
 * nothing; another block of its time replaces.
 */
export async function recordSnapshots(db: Queryable, snapshots: readonly NewSnapshot[]): Promise<void> {
  // Several instants may have one last block.
  const once = new Map(snapshots.map((each) => [`${each.chainId} ${each.vaultAddress} ${each.block.timestamp}`, each]))
  const rows = [...once.values()].map(({ chainId, vaultAddress, block, figures }) => ({
    chain_id: chainId,
    address: vaultAddress,
    block_number: block.number,
    block_hash: block.hash,
    at: block.timestamp,
    total_assets: String(figures.totalAssets),
    total_supply: String(figures.totalSupply),
    price_numerator: String(figures.priceNumerator),
    price_exponent: figures.priceExponent,
  }))
  await db`
    insert into vault_snapshots (vault_id, block_number, block_hash, block_timestamp, total_assets, total_supply,
      price_numerator, price_exponent, price_observation_id, price_usd)
    select v.id, r.block_number, hex_bytes(r.block_hash), to_timestamp(r.at), r.total_assets, r.total_supply,
      r.price_numerator, r.price_exponent, p.id, p.price_usd
    from jsonb_to_recordset(${db.json(rows)}) as r (chain_id bigint, address text, block_number bigint, block_hash text,
      at bigint, total_assets numeric, total_supply numeric, price_numerator numeric, price_exponent smallint)
    join ${vaultsOf(db)} v on v.chain_id = r.chain_id and v.address = r.address
    left join lateral price_at(v.chain_id, lower(v.asset), to_timestamp(r.at)) p on true
    on conflict (vault_id, block_timestamp) do update set block_hash = excluded.block_hash,
      block_number = excluded.block_number, total_assets = excluded.total_assets,
      total_supply = excluded.total_supply, price_numerator = excluded.price_numerator,
      price_exponent = excluded.price_exponent, price_observation_id = excluded.price_observation_id,
      price_usd = excluded.price_usd
    where vault_snapshots.block_hash <> excluded.block_hash`
}

/** A vault whose snapshots are taken, and on which grid. */
export type GridVault = ObservedVault & {
  id: number
  asset: string
  snapshotIntervalSeconds: number
  startBlock: number
  /** The newest instant of its grid it was read for as it came; null: none yet. */
  seenTo: number | null
}

export async function listGridVaults(db: Queryable, chainId: number): Promise<GridVault[]> {
  return db<GridVault[]>`
    select v.id, v.address, v.kind, v.contracts, lower(v.asset) as asset, v.receipt_token as "receiptToken",
      v.receipt_decimals as "receiptDecimals", v.snapshot_interval_seconds as "snapshotIntervalSeconds",
      v.start_block as "startBlock", extract(epoch from p.seen_to)::bigint as "seenTo"
    from ${vaultsOf(db)} v left join snapshot_progress p on p.vault_id = v.id where v.chain_id = ${chainId} order by v.id`
}

/** The newest block of a chain, at or below `numberMax`, that a snapshot was taken at. */
export async function findNewestSnapshotBlock(
  db: Queryable,
  chainId: number,
  numberMax: number,
): Promise<{ number: number; hash: string } | undefined> {
  const rows = await db<{ number: number; hash: string }[]>`
    select s.block_number as number, hex_text(s.block_hash) as hash from ${vaultsOf(db)} v
    cross join lateral (
      select block_number, block_hash from vault_snapshots
      where vault_id = v.id and block_number <= ${numberMax} order by block_timestamp desc limit 1) s
    where v.chain_id = ${chainId} order by s.block_number desc limit 1`
  return rows[0]
}

/**
 * Removes the snapshots of a chain above a block. The vaults' grids are read again from the newest remaining row: an instant
 * after it may have another last block now, also if the row is of that instant. The query starts at the newest rows of a
 * vault, so that it reads only the rows it removes.
 */
export async function removeSnapshotsAbove(
  db: Queryable,
  { chainId, number }: { chainId: number; number: number },
): Promise<void> {
  await removeIdentitiesAbove(db, { chainId, number })
  await db`
    with kept as materialized (
      select v.id, v.snapshot_interval_seconds as step, coalesce((
        select s.block_timestamp from vault_snapshots s
        where s.vault_id = v.id and s.block_number <= ${number} order by s.block_timestamp desc limit 1), '-infinity') as at
      from ${vaultsOf(db)} v where v.chain_id = ${chainId}),
    gone as (
      delete from vault_snapshots s using kept k where s.vault_id = k.id and s.block_timestamp > k.at returning s.vault_id),
    anew as (delete from snapshot_progress p using kept k where p.vault_id = k.id and k.at = '-infinity')
    update snapshot_progress p
    set seen_to = to_timestamp(ceil(extract(epoch from k.at) / k.step) * k.step)
    from kept k
    where p.vault_id = k.id and k.at <> '-infinity'
      and p.seen_to > to_timestamp(ceil(extract(epoch from k.at) / k.step) * k.step)`
}

/** Prices snapshots without a price, if an observation of their time exists now. Returns how many. */
export async function fillSnapshotPrices(db: Queryable, chainId: number, limit = 5_000): Promise<number> {
  const done = await db`
    update vault_snapshots s set price_observation_id = f.id, price_usd = f.price_usd
    from (
      select s.vault_id, s.block_timestamp, p.id, p.price_usd
      from (select v.id, lower(v.asset) as asset, priced_since(v.chain_id, lower(v.asset)) as since
        from ${vaultsOf(db)} v where v.chain_id = ${chainId}) v
      join vault_snapshots s on s.vault_id = v.id and s.price_observation_id is null and s.block_timestamp >= v.since
      cross join lateral price_at(${chainId}, v.asset, s.block_timestamp) p
      limit ${limit}) f
    where s.vault_id = f.vault_id and s.block_timestamp = f.block_timestamp and s.price_observation_id is null`
  return done.count
}

/** Snapshots of orphaned blocks go with them. */
export const snapshotObservations: Observations = {
  name: 'vault snapshots',
  rewind: async (tx, { chainId, number }) => removeSnapshotsAbove(tx, { chainId, number }),
}
