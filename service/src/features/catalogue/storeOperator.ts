import { type Database, type Queryable, sqlState } from '../../postgres/pool.js'
import type { ChainSettings } from '../../rpc/chains.js'
import { bumpVersion } from './store.js'

export type OrganizationRow = { id: string; name: string; organizationType: string; premium: boolean }
export type DistributorRow = {
  id: string
  name: string
  organizationId: string
  activeFrom: Date
  signedOnly: boolean
}

export async function findOrganization(db: Queryable, id: string): Promise<OrganizationRow | undefined> {
  const rows = await db<OrganizationRow[]>`
    select id, name, organization_type as "organizationType", premium from organizations where id::text = ${id}`
  return rows[0]
}

export async function listOrganizations(db: Queryable): Promise<OrganizationRow[]> {
  return db<OrganizationRow[]>`
    select id, name, organization_type as "organizationType", premium from organizations order by lower(name), id`
}

/** Creates an organization; false when the id is taken. */
export async function createOrganization(
  db: Database,
  organization: { id: string; name: string; organizationType: string; premium?: boolean },
): Promise<boolean> {
  return db.begin(async (tx) => {
    const rows = await tx`
      insert into organizations (id, name, organization_type, premium)
      values (${organization.id}, ${organization.name}, ${organization.organizationType},
        ${organization.premium ?? false})
      on conflict (id) do nothing returning id`
    await bumpVersion(tx)
    return rows.length === 1
  })
}

const distributorColumns = (db: Queryable) => db`
  d.id, d.name, d.organization_id as "organizationId", d.active_from as "activeFrom",
  coalesce((select s.signed_only from distributor_settings s where s.distributor_id = d.id and s.active_from <= now()
    order by s.active_from desc limit 1), false) as "signedOnly"`

export async function findDistributorRow(db: Queryable, id: string): Promise<DistributorRow | undefined> {
  const rows = await db<DistributorRow[]>`select ${distributorColumns(db)} from distributors d where d.id = ${id}`
  return rows[0]
}

export async function listDistributors(db: Queryable): Promise<DistributorRow[]> {
  return db<DistributorRow[]>`select ${distributorColumns(db)} from distributors d order by d.id`
}

/** Creates a distributor; false when the id is taken. Deposits before `activeFrom` (chain time) are not credited. */
export async function createDistributor(
  db: Database,
  distributor: { id: string; name: string; organizationId: string; activeFrom: Date },
): Promise<boolean> {
  return db.begin(async (tx) => {
    const rows = await tx`
      insert into distributors (id, name, organization_id, active_from)
      values (${distributor.id}, ${distributor.name}, ${distributor.organizationId}, ${distributor.activeFrom})
      on conflict (id) do nothing returning id`
    await bumpVersion(tx)
    return rows.length === 1
  })
}

/** Sets from which chain time on only signed attributions count for a distributor (or all do again). */
export async function updateSignedOnly(
  db: Database,
  distributorId: string,
  signedOnly: boolean,
  activeFrom: Date,
): Promise<void> {
  await db.begin(async (tx) => {
    await tx`
      insert into distributor_settings (distributor_id, signed_only, active_from)
      values (${distributorId}, ${signedOnly}, ${activeFrom})
      on conflict (distributor_id, active_from) do update set signed_only = excluded.signed_only`
    await bumpVersion(tx)
  })
}

/** How the chains are read. With `watchedOnly`, just those this installation follows. */
export async function listChainSettings(
  db: Queryable,
  options: { watchedOnly?: boolean } = {},
): Promise<(ChainSettings & { watched: boolean; active: boolean })[]> {
  return db<(ChainSettings & { watched: boolean; active: boolean })[]>`
    select chain_id as "chainId", name, native_symbol as "nativeSymbol", rpc_urls as "rpcUrls", confirmations,
      finality_depth as "finalityDepth", poll_interval_ms as "pollIntervalMs",
      reorg_recheck_seconds as "reorgRecheckSeconds", entry_points as "entryPoints", watched, active,
      transaction_gas_cap as "transactionGasCap", l1_gas_in_limit as "l1GasInLimit"
    from chains ${options.watchedOnly ? db`where watched` : db``} order by chain_id`
}

export type NewChain = {
  chainId: number
  name: string
  slug: string
  rpcUrls: string[]
  /** Undefined: as they are, 12 for a new chain. */
  confirmations: number | undefined
  watched: boolean
  /** Undefined: as it is, false for a new chain. */
  l1GasInLimit: boolean | undefined
}

/** Adds a chain, or changes how a known one is read. */
export async function recordChain(db: Database, chain: NewChain): Promise<void> {
  await db.begin(async (tx) => {
    await tx`
      insert into chains (chain_id, name, slug, rpc_urls, confirmations, watched, l1_gas_in_limit)
      values (${chain.chainId}, ${chain.name}, ${chain.slug}, ${chain.rpcUrls},
        ${chain.confirmations ?? 12}, ${chain.watched}, ${chain.l1GasInLimit === true})
      on conflict (chain_id) do update set name = excluded.name, rpc_urls = excluded.rpc_urls,
        confirmations = coalesce(${chain.confirmations ?? null}, chains.confirmations), watched = excluded.watched,
        l1_gas_in_limit = coalesce(${chain.l1GasInLimit ?? null}, chains.l1_gas_in_limit)`
    await bumpVersion(tx)
  })
}

/** Takes a chain out, unless something of it is kept: what was read of it, its tokens or its vaults. */
export async function removeChain(db: Database, chainId: number): Promise<'removed' | 'absent' | 'used'> {
  try {
    return await db.begin(async (tx) => {
      const removed = await tx`delete from chains where chain_id = ${chainId}`
      await bumpVersion(tx)
      return removed.count > 0 ? 'removed' : 'absent'
    })
  } catch (error) {
    if (sqlState(error) === '23503') return 'used'
    throw error
  }
}
