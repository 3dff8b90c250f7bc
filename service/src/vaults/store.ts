import type { Queryable } from '../postgres/pool.js'
import type { Header } from '../rpc/raw.js'
import type { VaultFigures } from './snapshots.js'

type SnapshotBlock = Pick<Header, 'number' | 'hash' | 'timestamp'>

export type NewSnapshot = { chainId: number; vaultAddress: string; block: SnapshotBlock; figures: VaultFigures } & {
  priceObservationId: number | null
}

/** Records what vaults answered at a block. The same block again adds nothing; another block of its number replaces. */
export async function recordSnapshots(db: Queryable, snapshots: readonly NewSnapshot[]): Promise<void> {
  const rows = snapshots.map(({ chainId, vaultAddress, block, figures, priceObservationId }) => ({
    chain_id: chainId,
    vault_address: vaultAddress,
    block_number: block.number,
    block_hash: block.hash,
    block_timestamp: block.timestamp,
    total_assets: String(figures.totalAssets),
    total_supply: String(figures.totalSupply),
    price_numerator: String(figures.priceNumerator),
    price_exponent: figures.priceExponent,
    price_observation_id: priceObservationId,
  }))
  await db`
    insert into vault_snapshots (chain_id, vault_address, block_number, block_hash, block_timestamp, total_assets,
      total_supply, price_numerator, price_exponent, price_observation_id)
    select chain_id, vault_address, block_number, block_hash, to_timestamp(block_timestamp), total_assets,
      total_supply, price_numerator, price_exponent, price_observation_id
    from jsonb_to_recordset(${db.json(rows)}) as r (chain_id bigint, vault_address text, block_number bigint,
      block_hash text, block_timestamp bigint, total_assets numeric, total_supply numeric, price_numerator numeric,
      price_exponent integer, price_observation_id bigint)
    on conflict (chain_id, vault_address, block_number) do update set block_hash = excluded.block_hash,
      block_timestamp = excluded.block_timestamp, total_assets = excluded.total_assets,
      total_supply = excluded.total_supply, price_numerator = excluded.price_numerator,
      price_exponent = excluded.price_exponent, price_observation_id = excluded.price_observation_id
    where vault_snapshots.block_hash <> excluded.block_hash`
}

/** The newest block of a chain, at or below `numberMax`, that a snapshot was taken at. */
export async function findNewestSnapshotBlock(
  db: Queryable,
  chainId: number,
  numberMax: number,
): Promise<{ number: number; hash: string } | undefined> {
  const rows = await db<{ number: number; hash: string }[]>`
    select block_number as number, block_hash as hash from vault_snapshots
    where chain_id = ${chainId} and block_number <= ${numberMax} order by block_number desc limit 1`
  return rows[0]
}

/** Removes what was read at a block that the chain has dropped. */
export async function removeSnapshotsAt(
  db: Queryable,
  chainId: number,
  block: { number: number; hash: string },
): Promise<void> {
  await db`
    delete from vault_snapshots
    where chain_id = ${chainId} and block_number = ${block.number} and block_hash = ${block.hash}`
}

/** Addresses of the vaults that have a snapshot of this very block. */
export async function listVaultsSnapshotAt(db: Queryable, chainId: number, block: SnapshotBlock): Promise<Set<string>> {
  const rows = await db<{ vaultAddress: string }[]>`
    select vault_address as "vaultAddress" from vault_snapshots
    where chain_id = ${chainId} and block_number = ${block.number} and block_hash = ${block.hash}`
  return new Set(rows.map(({ vaultAddress }) => vaultAddress))
}
