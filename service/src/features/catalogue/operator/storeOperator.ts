import { type Database, type Queryable, sqlState } from '../../../postgres/pool.js'
import { chainsOf, deleteChain, type NewChain, writeChain } from '../../../rpc/storeChains.js'
import { bumpVersion } from '../store.js'

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

/** How many entries of each kind there are, and the version they make. */
export async function countCatalogue(db: Queryable): Promise<Record<string, number>> {
  const [row] = await db<Record<string, number>[]>`
    select (select version from catalogue_versions) as version, (select count(*) from organizations) as organizations,
      (select count(*) from ${chainsOf(db)} c) as chains,
      (select count(*) from opportunities) as opportunities, (select count(*) from products) as products,
      (select count(*) from distributors) as distributors`
  return { ...row }
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

/** From when on a distributor was signed only, and was not. */
export async function listSignedOnly(
  db: Queryable,
  distributorId: string,
): Promise<{ from: Date; signedOnly: boolean }[]> {
  return db<{ from: Date; signedOnly: boolean }[]>`
    select active_from as "from", signed_only as "signedOnly" from distributor_settings
    where distributor_id = ${distributorId} order by active_from`
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

/** Adds a chain, or changes how a known one is read. */
export async function recordChain(db: Database, chain: NewChain): Promise<void> {
  await db.begin(async (tx) => {
    await writeChain(tx, chain)
    await bumpVersion(tx)
  })
}

/** Deletes a chain, unless rows refer to it: blocks, tokens or vaults. */
export async function removeChain(db: Database, chainId: number): Promise<'removed' | 'absent' | 'used'> {
  try {
    return await db.begin(async (tx) => {
      const removed = await deleteChain(tx, chainId)
      if (!removed) return 'absent'
      await bumpVersion(tx)
      return 'removed'
    })
  } catch (error) {
    if (sqlState(error) === '23503') return 'used'
    throw error
  }
}
