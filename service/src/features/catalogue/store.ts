import type { Database, Queryable, Transaction } from '../../postgres/pool.js'
import { inTransaction } from '../../postgres/pool.js'
import type {
  CapabilityRecord,
  CatalogueRows,
  ChainRecord,
  DistributorRecord,
  IncentiveRow,
  LiveRow,
  OpportunityRow,
  OrganizationRecord,
  ProductRecord,
  ProtocolRecord,
  TokenRecord,
  VaultRecord,
} from './records.js'
import type { Tag } from './schema.js'

/** Channel on which every change of the catalogue is announced; the payload is the new version or live version. */
export const catalogueChannel = 'catalogue'

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

/** The whole catalogue at one instant. */
export async function readCatalogue(db: Database): Promise<CatalogueRows> {
  return inTransaction(db, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`
    const [versions, base, opportunities, links] = await Promise.all([
      readVersion(tx),
      readBase(tx),
      readOpportunities(tx),
      readLinks(tx),
    ])
    return { ...versions, ...base, ...opportunities, ...links }
  })
}

/** Only what jobs push, at one instant. */
export async function readLive(db: Database): Promise<CatalogueVersion & { live: LiveRow[] }> {
  return inTransaction(db, async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`
    const [versions, joined] = await Promise.all([
      readVersion(tx),
      tx<JoinedLive[]>`select id, ${liveColumns(tx)} from opportunities ${joinLive(tx)}`,
    ])
    return { ...versions, live: joined.map(withCapability) }
  })
}

const liveColumns = (tx: Transaction) => tx`
  tvl_usd::text as "tvlUsd", coalesce(deltas, '{}') as deltas, analytics_at as "analyticsAt",
  deposit_open as "depositOpen", withdraw_open as "withdrawOpen", deposit_closed_reason as "depositClosedReason",
  withdraw_closed_reason as "withdrawClosedReason", capability_at as "capabilityAt"`

const joinLive = (tx: Transaction) => tx`
  left join opportunity_analytics on opportunity_analytics.opportunity_id = id
  left join opportunity_capabilities on opportunity_capabilities.opportunity_id = id`

async function readBase(tx: Transaction) {
  const [chains, tokens, organizations, distributors, protocols, products, tags] = await Promise.all([
    tx<ChainRecord[]>`
      select chain_id as "chainId", name, slug, logo_url as "logoUrl", explorer_url as "explorerUrl",
        native_symbol as "nativeSymbol", active, watched, rpc_urls as "rpcUrls", confirmations,
        finality_depth as "finalityDepth", poll_interval_ms as "pollIntervalMs",
        reorg_recheck_seconds as "reorgRecheckSeconds", entry_points as "entryPoints",
        wrapped_native as "wrappedNative"
      from chains order by chain_id`,
    tx<TokenRecord[]>`
      select chain_id as "chainId", address, decimals, symbol, name, logo_url as "logoUrl", active,
        peg_usd::text as "pegUsd", approval_reset as "approvalReset",
        unsupported_reason as "unsupportedReason"
      from tokens order by chain_id, address`,
    tx<OrganizationRecord[]>`
      select id, name, description, icon_url as "iconUrl", landing_url as "landingUrl",
        organization_type as "organizationType", premium
      from organizations order by id`,
    tx<DistributorRecord[]>`
      select id, organization_id as "organizationId", name, active_from as "activeFrom",
        coalesce((select signed_only from distributor_settings where distributor_id = id
          order by distributor_settings.active_from desc limit 1), false) as "signedOnly"
      from distributors order by id`,
    tx<ProtocolRecord[]>`select id, name, logo_url as "logoUrl", site_url as "siteUrl" from protocols order by id`,
    tx<ProductRecord[]>`select id, name, organization_id as "organizationId" from products order by id`,
    tx<Tag[]>`select id, code, name, description, color from tags order by code collate "C"`,
  ])
  return { chains, tokens, organizations, distributors, protocols, products, tags }
}

type NullableCapability = { [member in keyof CapabilityRecord]: CapabilityRecord[member] | null }
type JoinedOpportunity = Omit<OpportunityRow, 'capability'> & NullableCapability
type JoinedLive = Omit<LiveRow, 'capability'> & NullableCapability

async function readOpportunities(tx: Transaction) {
  const [vaults, joined, incentives] = await Promise.all([
    tx<VaultRecord[]>`
      select chain_id as "chainId", address, kind, protocol_id as "protocolId", asset,
        asset_decimals as "assetDecimals", receipt_token as "receiptToken", receipt_decimals as "receiptDecimals",
        start_block as "startBlock", active_from as "activeFrom",
        snapshot_interval_seconds as "snapshotIntervalSeconds"
      from vaults order by chain_id, address`,
    tx<JoinedOpportunity[]>`
      select id, slug, name, description, type, chain_id as "chainId", vault_address as "vaultAddress",
        curator_id as "curatorId", min_deposit_amount_usd::text as "minDepositAmountUsd",
        min_withdraw_amount::text as "minWithdrawAmount", featured, active, deposit_enabled as "depositEnabled",
        withdraw_enabled as "withdrawEnabled", deposit_disabled_reason as "depositDisabledReason",
        withdraw_disabled_reason as "withdrawDisabledReason",
        direct_interaction_enabled as "directInteractionEnabled", routed_swap_enabled as "routedSwapEnabled",
        is_secondary_market as "isSecondaryMarket", async_deposit as "asyncDeposit",
        async_withdraw as "asyncWithdraw", ${liveColumns(tx)}
      from opportunities ${joinLive(tx)}
      order by id`,
    tx<IncentiveRow[]>`
      select id, opportunity_id as "opportunityId", name, description, icon_url as "iconUrl",
        reward_type as "rewardType", reward_type_name as "rewardTypeName", apr::text, min_apr::text as "minApr",
        max_apr::text as "maxApr", est_price_usd::text as "estPriceUsd", fdv_estimate::text as "fdvEstimate",
        token_supply_allocation::text as "tokenSupplyAllocation", indexed
      from incentives where active order by position, id`,
  ])
  return { vaults, opportunities: joined.map(withCapability), incentives }
}

function withCapability<T extends NullableCapability>(
  row: T,
): Omit<T, keyof CapabilityRecord> & { capability: CapabilityRecord | null } {
  const { depositOpen, withdrawOpen, depositClosedReason, withdrawClosedReason, capabilityAt, ...opportunity } = row
  if (depositOpen === null || withdrawOpen === null || capabilityAt === null)
    return { ...opportunity, capability: null }
  const reasons = {
    depositClosedReason: depositClosedReason ?? '',
    withdrawClosedReason: withdrawClosedReason ?? '',
  }
  return { ...opportunity, capability: { depositOpen, withdrawOpen, ...reasons, capabilityAt } }
}

async function readLinks(tx: Transaction) {
  const [tokens, organizations, tags, products, byDistributor, productsByDistributor] = await Promise.all([
    tx<CatalogueRows['opportunityTokens'][number][]>`
      select opportunity_id as "opportunityId", chain_id as "chainId", address
      from opportunity_tokens order by opportunity_id, position, address`,
    tx<CatalogueRows['opportunityOrganizations'][number][]>`
      select opportunity_id as "opportunityId", organization_id as "organizationId", role
      from opportunity_organizations`,
    tx<CatalogueRows['opportunityTags'][number][]>`
      select opportunity_id as "opportunityId", tag_id as "tagId" from opportunity_tags`,
    tx<CatalogueRows['opportunityProducts'][number][]>`
      select opportunity_id as "opportunityId", product_id as "productId" from opportunity_products`,
    tx<CatalogueRows['distributorOpportunities'][number][]>`
      select distributor_id as "distributorId", opportunity_id as "opportunityId" from distributor_opportunities`,
    tx<CatalogueRows['distributorProducts'][number][]>`
      select distributor_id as "distributorId", product_id as "productId" from distributor_products`,
  ])
  return {
    opportunityTokens: tokens,
    opportunityOrganizations: organizations,
    opportunityTags: tags,
    opportunityProducts: products,
    distributorOpportunities: byDistributor,
    distributorProducts: productsByDistributor,
  }
}
