import { readPages, readRowPages, readRows, selectList } from '../../postgres/importedRows.js'
import type { Database, Fragment, Queryable, Transaction } from '../../postgres/pool.js'
import { inTransaction } from '../../postgres/pool.js'
import { listTokens } from '../../prices/index.js'
import { listChains } from '../../rpc/storeChains.js'
import { listProtocols, listVaults } from '../../vaults/configured/index.js'
import type {
  CapabilityRecord,
  CatalogueRows,
  DistributorRecord,
  LiveRow,
  OpportunityRow,
  OrganizationRole,
} from './records.js'
import { listSigners } from './storeSigners.js'
import { tables } from './tables.js'

/** Channel on which every change of the catalogue is announced; the payload is the new version or live version. */
export const catalogueChannel = 'catalogue'

/** The opportunities, as statements of other slices read them. */
export const opportunitiesOf = (db: Queryable): Fragment => db.view`(
  select id, name, chain_id, vault_address from opportunities)`

/** Raises the catalogue's version and tells every process. The message leaves when the transaction commits. */
export async function bumpVersion(tx: Queryable): Promise<void> {
  await tx`
    with raised as (update catalogue_versions set version = version + 1 returning version)
    select pg_notify(${catalogueChannel}, version::text) from raised`
}

/** The same for a push of analytics or capabilities, which leaves the rest as it is. */
export async function bumpLiveVersion(tx: Queryable): Promise<void> {
  await tx`
    with raised as (update catalogue_versions set live_version = live_version + 1 returning live_version)
    select pg_notify(${catalogueChannel}, live_version::text) from raised`
}

export type CatalogueVersion = { version: number; liveVersion: number }

export async function readVersion(db: Queryable): Promise<CatalogueVersion> {
  const rows = await db<CatalogueVersion[]>`
    select version, live_version as "liveVersion" from catalogue_versions`
  return rows[0] ?? { version: 0, liveVersion: 0 }
}

/** Calls `onChange` for every announced change, and after each reconnection. Resolves to a function that stops. */
export async function listenForChanges(db: Database, onChange: () => void): Promise<() => Promise<void>> {
  const { unlisten } = await db.listen(catalogueChannel, onChange, onChange)
  return unlisten
}

/** The whole catalogue at one instant. Large tables are read a page at a time, one after the other. */
export async function readCatalogue(db: Database): Promise<CatalogueRows> {
  return inTransaction(db, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`
    const [versions, base] = await Promise.all([readVersion(tx), readBase(tx)])
    // The connection of a transaction serves nothing else while it reads pages.
    const tokens = await listTokens(tx)
    const vaults = await listVaults(tx)
    const opportunities = await readOpportunities(tx)
    const incentives = await readRowPages(tx, tables.incentives, 'where active order by position, id')
    return { ...versions, ...base, tokens, vaults, opportunities, incentives }
  })
}

/** Only what jobs push, at one instant. */
export async function readLive(db: Database): Promise<CatalogueVersion & { live: LiveRow[] }> {
  return inTransaction(db, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`
    const versions = await readVersion(tx)
    const text = `select id, ${liveColumns} from opportunities ${joinLive}`
    return { ...versions, live: await readPages(tx, text, withCapability<JoinedLive>) }
  })
}

const liveColumns = `
  tvl_usd as "tvlUsd", coalesce(deltas, '{}') as deltas, indexed_apr as "indexedApr",
  coalesce(stream_aprs, '{}') as "streamAprs", analytics_at as "analyticsAt",
  deposit_open as "depositOpen", withdraw_open as "withdrawOpen", deposit_closed_reason as "depositClosedReason",
  withdraw_closed_reason as "withdrawClosedReason", deposit_at_once as "depositAtOnce",
  withdraw_at_once as "withdrawAtOnce", capability_at as "capabilityAt"`

const joinLive = `
  left join opportunity_analytics on opportunity_analytics.opportunity_id = id
  left join opportunity_capabilities on opportunity_capabilities.opportunity_id = id`

async function readBase(tx: Transaction) {
  const [
    chains,
    organizations,
    distributors,
    protocols,
    products,
    tags,
    byDistributor,
    productsByDistributor,
    signers,
  ] = await Promise.all([
    listChains(tx),
    readRows(tx, tables.organizations, 'order by id'),
    tx.unsafe<DistributorRecord[]>(`
      select ${selectList(tables.distributors)},
        coalesce((select signed_only from distributor_settings where distributor_id = id
          order by distributor_settings.active_from desc limit 1), false) as "signedOnly"
      from distributors order by id`),
    listProtocols(tx),
    readRows(tx, tables.products, 'order by id'),
    readRows(tx, tables.tags, 'order by code collate "C"'),
    readRows(tx, tables.distributorOpportunities),
    readRows(tx, tables.distributorProducts),
    listSigners(tx),
  ])
  return {
    ...{ chains, organizations, distributors, protocols, products, tags, signers },
    distributorOpportunities: byDistributor,
    distributorProducts: productsByDistributor,
  }
}

type NullableCapability = { [member in keyof CapabilityRecord]: CapabilityRecord[member] | null }
type JoinedOpportunity = Omit<OpportunityRow, 'capability'> & NullableCapability
type JoinedLive = Omit<LiveRow, 'capability'> & NullableCapability

/** Each opportunity comes with its references, one text a list: separate rows would be seven times as many. */
async function readOpportunities(tx: Transaction): Promise<OpportunityRow[]> {
  const text = `
    select ${selectList(tables.opportunities)}, ${liveColumns},
      coalesce(token_keys, '') as "tokenKeys", coalesce(tag_ids, '') as "tagIds",
      coalesce(product_ids, '') as "productIds", coalesce(providers, '') as "providerList",
      coalesce(partners, '') as "partnerList", coalesce(lending_protocols, '') as "lendingProtocolList"
    from opportunities ${joinLive}
    left join (
      select opportunity_id, string_agg(chain_id || ':' || lower(address), ' ' order by position, address) as token_keys
      from opportunity_tokens group by 1) tokens on tokens.opportunity_id = id
    left join (
      select opportunity_id, string_agg(tag_id::text, ' ' order by tag_id) as tag_ids
      from opportunity_tags group by 1) tags on tags.opportunity_id = id
    left join (
      select opportunity_id, string_agg(product_id::text, ' ' order by product_id) as product_ids
      from opportunity_products group by 1) products on products.opportunity_id = id
    left join (
      select opportunity_id, ${listOf('provider')} as providers, ${listOf('partner')} as partners,
        ${listOf('lending-protocol')} as lending_protocols
      from opportunity_organizations group by 1) organizations on organizations.opportunity_id = id
    order by id`
  return readPages(tx, text, withCapability<JoinedOpportunity>)
}

const listOf = (role: OrganizationRole) =>
  `string_agg(organization_id::text, ' ' order by organization_id) filter (where role = '${role}')`

function withCapability<T extends NullableCapability>(
  row: T,
): Omit<T, keyof CapabilityRecord> & { capability: CapabilityRecord | null } {
  const {
    depositOpen,
    withdrawOpen,
    depositClosedReason,
    withdrawClosedReason,
    depositAtOnce,
    withdrawAtOnce,
    capabilityAt,
    ...opportunity
  } = row
  if (depositOpen === null || withdrawOpen === null || capabilityAt === null)
    return { ...opportunity, capability: null }
  const reasons = {
    depositClosedReason: depositClosedReason ?? '',
    withdrawClosedReason: withdrawClosedReason ?? '',
  }
  const atOnce = { depositAtOnce: depositAtOnce === true, withdrawAtOnce: withdrawAtOnce === true }
  return { ...opportunity, capability: { depositOpen, withdrawOpen, ...reasons, ...atOnce, capabilityAt } }
}
