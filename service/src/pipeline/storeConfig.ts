import { standardEntryPoints } from '@openearn/attribution'
import type { DatedLine, DeriveConfig, DeriveVault, SignedOnlySetting } from '../derive/config.js'
import { listSignersOn } from '../features/catalogue/index.js'
import type { Queryable } from '../postgres/pool.js'

/** Everything of the configuration that decides the derived rows of a chain, as it is now. */
export async function loadConfig(db: Queryable, chainId: number): Promise<DeriveConfig> {
  const [vaults, distributors, settings, signers, chain] = await Promise.all([
    db<DeriveVault[]>`
      select id, address, kind, lower(receipt_token) as "receiptToken", lower(asset) as asset,
        asset_decimals as "assetDecimals", escrow, contracts, start_block as "startBlock",
        ceil(extract(epoch from active_from))::bigint as "activeFrom"
      from vaults where chain_id = ${chainId} order by id`,
    db<{ id: string; from: number }[]>`
      select id, ceil(extract(epoch from active_from))::bigint as "from" from distributors order by id`,
    db<{ id: string; from: number; signedOnly: boolean }[]>`
      select distributor_id as id, ceil(extract(epoch from active_from))::bigint as "from", signed_only as "signedOnly"
      from distributor_settings order by active_from`,
    listSignersOn(db, chainId),
    db<{ entryPoints: string[] }[]>`select entry_points as "entryPoints" from chains where chain_id = ${chainId}`,
  ])
  const signedOnly = new Map<string, SignedOnlySetting[]>()
  for (const { id, ...setting } of settings) signedOnly.set(id, [...(signedOnly.get(id) ?? []), setting])
  const own = (chain[0]?.entryPoints ?? []).map((address) => address.toLowerCase())
  return {
    chainId,
    vaults,
    distributors: new Map(distributors.map(({ id, from }) => [id, from])),
    signedOnly,
    signers: new Set(signers.map(({ address }) => address)),
    entryPoints: [...new Set([...standardEntryPoints, ...own])],
  }
}

/**
 * A text that changes with whatever decides what is read of a chain and derived from it: the configuration, and which
 * vaults are synced. Cheap enough to ask at every look at the chain.
 */
export async function findConfigMark(db: Queryable, chainId: number): Promise<string> {
  const rows = await db<{ mark: string }[]>`
    select concat_ws(':', (select version from catalogue_versions), (select count(*) from vaults),
      (select count(*) from distributors), (select count(*) from distributor_settings),
      (select count(*) from attribution_signers),
      (select coalesce(bit_xor(hashtextextended(address, 0)), 0) from watched_vaults
        where chain_id = ${chainId} and synced)) as mark`
  return rows[0]?.mark ?? ''
}

/** The configuration the derived rows of a chain rest on. */
export async function findDerivedConfig(db: Queryable, chainId: number): Promise<DatedLine[]> {
  const rows = await db<{ configuration: DatedLine[] }[]>`
    select configuration from chain_cursors where chain_id = ${chainId}`
  return rows[0]?.configuration ?? []
}

export async function recordDerivedConfig(db: Queryable, chainId: number, lines: readonly DatedLine[]): Promise<void> {
  await db`
    update chain_cursors set configuration = ${JSON.stringify(lines)}::text::jsonb where chain_id = ${chainId}`
}

export type WatchedVault = { address: string; fromBlock: number; syncedTo: number; synced: boolean }

/** Vaults of a chain whose logs are read, with how far. */
export async function listWatchedVaults(db: Queryable, chainId: number): Promise<WatchedVault[]> {
  return db<WatchedVault[]>`
    select address, from_block as "fromBlock", synced_to as "syncedTo", synced from watched_vaults where chain_id = ${chainId}`
}

/** Starts watching vaults; those already watched stay as they are. */
export async function createWatchedVaults(
  db: Queryable,
  chainId: number,
  vaults: readonly WatchedVault[],
): Promise<void> {
  for (const { address, fromBlock, syncedTo, synced } of vaults)
    await db`
      insert into watched_vaults (chain_id, address, from_block, synced_to, synced)
      values (${chainId}, ${address}, ${fromBlock}, ${syncedTo}, ${synced}) on conflict do nothing`
}

/** Reads a vault's logs again, from an earlier block on; until that is done it does not count. */
export async function restartWatchedVault(
  db: Queryable,
  chainId: number,
  address: string,
  fromBlock: number,
): Promise<void> {
  await db`
    update watched_vaults set from_block = ${fromBlock}, synced_to = ${fromBlock - 1}, synced = false
    where chain_id = ${chainId} and address = ${address}`
}

/** Records how far vaults' logs are in the raw store; answers how many of them were `from` there, as they must be. */
export async function recordVaultProgress(
  db: Queryable,
  chainId: number,
  addresses: readonly string[],
  progress: { from: number; syncedTo: number; synced: boolean },
): Promise<number> {
  const { count } = await db`
    update watched_vaults set synced_to = ${progress.syncedTo}, synced = ${progress.synced}
    where chain_id = ${chainId} and address = any(${[...addresses]}) and synced_to = ${progress.from} and not synced`
  return count
}

/** Forgets progress above a block whose raw data was removed. */
export async function rewindVaultProgress(db: Queryable, chainId: number, number: number): Promise<void> {
  await db`
    update watched_vaults set synced_to = least(synced_to, greatest(${number}, from_block - 1)) where chain_id = ${chainId}`
}
