import type { Queryable } from '../postgres/pool.js'
import type { Header } from '../rpc/raw.js'
import type { Observations } from '../sync/projection.js'
import type { ObservedVault, VaultFigures } from './kind.js'

type SnapshotBlock = Pick<Header, 'number' | 'hash' | 'timestamp'>

export type NewSnapshot = { chainId: number; vaultAddress: string; block: SnapshotBlock; figures: VaultFigures }

/**
 * Records what vaults answered at a block, with the price of the asset then where there is one. The same block again adds
 * nothing; another block of its number replaces.
 */
export async function recordSnapshots(db: Queryable, snapshots: readonly NewSnapshot[]): Promise<void> {
  const rows = snapshots.map(({ chainId, vaultAddress, block, figures }) => ({
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
    join vaults v on v.chain_id = r.chain_id and v.address = r.address
    left join lateral price_at(v.chain_id, lower(v.asset), to_timestamp(r.at)) p on true
    on conflict (vault_id, block_number) do update set block_hash = excluded.block_hash,
      block_timestamp = excluded.block_timestamp, total_assets = excluded.total_assets,
      total_supply = excluded.total_supply, price_numerator = excluded.price_numerator,
      price_exponent = excluded.price_exponent, price_observation_id = excluded.price_observation_id,
      price_usd = excluded.price_usd
    where vault_snapshots.block_hash <> excluded.block_hash`
}

/** A vault whose snapshots are taken, and on which grid. */
export type GridVault = ObservedVault & { snapshotIntervalSeconds: number; startBlock: number }

export async function listGridVaults(db: Queryable, chainId: number): Promise<GridVault[]> {
  return db<GridVault[]>`
    select address, kind, contracts, receipt_token as "receiptToken", receipt_decimals as "receiptDecimals",
      snapshot_interval_seconds as "snapshotIntervalSeconds", start_block as "startBlock"
    from vaults where chain_id = ${chainId} order by id`
}

/** The newest block of a chain, at or below `numberMax`, that a snapshot was taken at. */
export async function findNewestSnapshotBlock(
  db: Queryable,
  chainId: number,
  numberMax: number,
): Promise<{ number: number; hash: string } | undefined> {
  const rows = await db<{ number: number; hash: string }[]>`
    select s.block_number as number, hex_text(s.block_hash) as hash from vaults v
    cross join lateral (
      select block_number, block_hash from vault_snapshots
      where vault_id = v.id and block_number <= ${numberMax} order by block_number desc limit 1) s
    where v.chain_id = ${chainId} order by s.block_number desc limit 1`
  return rows[0]
}

/** Removes what was read at a block that the chain has dropped. */
export async function removeSnapshotsAt(
  db: Queryable,
  chainId: number,
  block: { number: number; hash: string },
): Promise<void> {
  await db`
    delete from vault_snapshots s using vaults v
    where v.chain_id = ${chainId} and s.vault_id = v.id and s.block_number = ${block.number}
      and s.block_hash = hex_bytes(${block.hash})`
}

/** Addresses of the vaults that have a snapshot of this very block. */
export async function listVaultsSnapshotAt(db: Queryable, chainId: number, block: SnapshotBlock): Promise<Set<string>> {
  const rows = await db<{ address: string }[]>`
    select v.address from vaults v
    join vault_snapshots s on s.vault_id = v.id and s.block_number = ${block.number}
    where v.chain_id = ${chainId} and s.block_hash = hex_bytes(${block.hash})`
  return new Set(rows.map(({ address }) => address))
}

/** Snapshots of orphaned blocks go with them. */
export const snapshotObservations: Observations = {
  name: 'vault snapshots',
  rewind: async (tx, { chainId, number, tip }) => {
    await tx`
      delete from vault_snapshots s using vaults v
      where v.chain_id = ${chainId} and s.vault_id = v.id and s.block_number between ${number + 1} and ${Math.max(number, tip)}`
  },
}
