import { isDeepStrictEqual } from 'node:util'
import { findVaultKind } from '../../../vaults/index.js'
import { decideCapabilities } from '../capability.js'
import { computeEstimatedApr } from '../item.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import {
  type CatalogueRows,
  type ChainRecord,
  chainKey,
  type DistributorRecord,
  type IncentiveRow,
  type Live,
  type LiveRow,
  type OpportunityRow,
  type OrganizationRecord,
  type OrganizationRole,
  type ProductRecord,
  type ProtocolRecord,
  type TokenRecord,
  type VaultRecord,
} from '../records.js'
import { compareText } from '../text.js'
import { mapInSteps, runAtOnce, type Steps } from './timeSlicing.js'

/** What stays the same between two snapshots that differ only in what jobs push. Compared by identity. */
export type CatalogueBase = {
  /** Ids of the listed opportunities, ascending; a place in this list is an opportunity's position. */
  readonly listedIds: readonly string[]
}

/** The whole catalogue, inactive entries included, as it was at one instant. Never changes. */
export type CatalogueSnapshot = {
  readonly version: number
  readonly liveVersion: number
  readonly base: CatalogueBase
  readonly chains: ReadonlyMap<number, ChainRecord>
  /** By `chainKey`. */
  readonly tokens: ReadonlyMap<string, TokenRecord>
  readonly organizations: ReadonlyMap<string, OrganizationRecord>
  readonly distributors: ReadonlyMap<string, DistributorRecord>
  readonly protocols: ReadonlyMap<string, ProtocolRecord>
  readonly products: ReadonlyMap<string, ProductRecord>
  /** By `chainKey`. */
  readonly vaults: ReadonlyMap<string, VaultRecord>
  /** By id, in the order of ids. */
  readonly opportunities: ReadonlyMap<string, OpportunityRecord>
  /** By `chainKey` of the vault. */
  readonly opportunitiesByVault: ReadonlyMap<string, OpportunityRecord>
  /** Ids of the opportunities in a product. */
  readonly productOpportunities: ReadonlyMap<string, ReadonlySet<string>>
  /** Ids of the opportunities a distributor shows: its own and those of its products. */
  readonly distributorOpportunities: ReadonlyMap<string, ReadonlySet<string>>
}

/** Joins the rows. Pure. */
export function buildSnapshot(rows: CatalogueRows): CatalogueSnapshot {
  return runAtOnce(joinRows(rows))
}

/** The same in steps: thousands of opportunities take longer than a request may wait. */
export function* joinRows(rows: CatalogueRows): Steps<CatalogueSnapshot> {
  const chains = new Map(rows.chains.map((chain) => [chain.chainId, chain]))
  const tokens = new Map(
    yield* mapInSteps(rows.tokens, (token) => [chainKey(token.chainId, token.address), token] as const),
  )
  const organizations = byId(rows.organizations)
  const products = byId(rows.products)
  const vaults = new Map(
    yield* mapInSteps(rows.vaults, (vault) => [chainKey(vault.chainId, vault.address), vault] as const),
  )
  const tags = byId(rows.tags)
  const links = {
    tokens: yield* group(rows.opportunityTokens),
    organizations: yield* group(rows.opportunityOrganizations),
    tags: yield* group(rows.opportunityTags),
    products: yield* group(rows.opportunityProducts),
    incentives: yield* group(rows.incentives),
  }
  const inNameOrder = rankByName(rows.organizations)
  const inProductOrder = rankByName(rows.products)
  const join = (row: OpportunityRow): OpportunityRecord[] => {
    const vault = vaults.get(chainKey(row.chainId, row.vaultAddress))
    if (!vault) return []
    const kind = findVaultKind(vault.kind)
    const withRole = (role: OrganizationRole) =>
      (links.organizations.get(row.id) ?? [])
        .filter((link) => link.role === role)
        .flatMap((link) => organizations.get(link.organizationId) ?? [])
        .sort(inNameOrder)
    const listed = row.active && chains.get(row.chainId)?.active === true
    const listedIncentives = links.incentives.get(row.id) ?? []
    const incentives = showIndexed(listedIncentives, row)
    return [
      {
        ...row,
        listed,
        capabilities: decideCapabilities(listed, row, row.capability, isPlanned(vault)),
        asyncDeposit: kind?.asyncDeposit === true,
        asyncWithdraw: kind?.asyncRedeem === true || kind?.redeemsLater === true || kind?.readCooling !== undefined,
        vault,
        baseToken: tokens.get(chainKey(vault.chainId, vault.asset)) ?? unknownToken(vault, 'asset'),
        receiptToken: tokens.get(chainKey(vault.chainId, vault.receiptToken)) ?? unknownToken(vault, 'receiptToken'),
        depositTokens: (links.tokens.get(row.id) ?? [])
          .flatMap((link) => tokens.get(chainKey(link.chainId, link.address)) ?? [])
          .filter((token) => token.active),
        curator: (row.curatorId === null ? undefined : organizations.get(row.curatorId)) ?? null,
        providers: withRole('provider'),
        partners: withRole('partner'),
        lendingProtocols: withRole('lending-protocol'),
        tags: (links.tags.get(row.id) ?? [])
          .flatMap((link) => tags.get(link.tagId) ?? [])
          .sort((a, b) => compareText(a.code, b.code)),
        products: (links.products.get(row.id) ?? [])
          .flatMap((link) => products.get(link.productId) ?? [])
          .sort(inProductOrder),
        listedIncentives,
        incentives,
        estimatedApr: computeEstimatedApr(incentives),
      },
    ]
  }
  const opportunities = byId((yield* mapInSteps(rows.opportunities, join)).flat())
  yield
  const productOpportunities = collect(rows.opportunityProducts.map((link) => [link.productId, link.opportunityId]))
  yield
  return {
    version: rows.version,
    liveVersion: rows.liveVersion,
    base: {
      listedIds: [...opportunities.values()].filter((record) => record.listed).map((record) => record.id),
    },
    chains,
    tokens,
    organizations,
    distributors: byId(rows.distributors),
    protocols: byId(rows.protocols),
    products,
    vaults,
    opportunities,
    opportunitiesByVault: yield* byVault(opportunities),
    productOpportunities,
    distributorOpportunities: collect([
      ...rows.distributorOpportunities.map((link) => [link.distributorId, link.opportunityId] as const),
      ...rows.distributorProducts.flatMap((link) =>
        [...(productOpportunities.get(link.productId) ?? [])].map((id) => [link.distributorId, id] as const),
      ),
    ]),
  }
}

/** The snapshot with what jobs pushed since; an opportunity nothing was pushed about stays the same object. Pure. */
export function* patchSnapshot(
  previous: CatalogueSnapshot,
  liveVersion: number,
  live: readonly LiveRow[],
): Steps<CatalogueSnapshot> {
  const rows = new Map(live.map((row) => [row.id, row]))
  const patch = ([id, record]: readonly [string, OpportunityRecord]): [string, OpportunityRecord] => {
    const row = rows.get(id)
    if (!row || isDeepStrictEqual(pushedTo(record), row)) return [id, record]
    const capabilities = decideCapabilities(record.listed, record, row.capability, isPlanned(record.vault))
    const incentives = showIndexed(record.listedIncentives, row)
    return [id, { ...record, ...row, capabilities, incentives, estimatedApr: computeEstimatedApr(incentives) }]
  }
  const opportunities = new Map(yield* mapInSteps(previous.opportunities, patch))
  return { ...previous, liveVersion, opportunities, opportunitiesByVault: yield* byVault(opportunities) }
}

/**
 * A yield that is indexed is what the vault was seen to earn, whatever a file says of it; tokens and points are what the
 * streams that run pay, where one runs.
 */
function showIndexed(incentives: readonly IncentiveRow[], { indexedApr, streamAprs }: Live): readonly IncentiveRow[] {
  return incentives.map((one) => {
    const { indexed, rewardType } = one
    if (!indexed || rewardType === 'vesting') return one
    if (rewardType === 'yield') return { ...one, apr: indexedApr }
    const apr = streamAprs[rewardType]
    return apr === undefined ? one : { ...one, apr: apr === null ? null : String(apr) }
  })
}

/** Whether anything is built for a vault. Of a kind this service does not know it is not told here. */
function isPlanned({ kind }: VaultRecord): boolean {
  const known = findVaultKind(kind)
  return known === undefined || known.plans !== undefined
}

function pushedTo(record: OpportunityRecord): LiveRow {
  const { id, tvlUsd, deltas, indexedApr, streamAprs, analyticsAt, capability } = record
  return { id, tvlUsd, deltas, indexedApr, streamAprs, analyticsAt, capability }
}

function* byVault(opportunities: ReadonlyMap<string, OpportunityRecord>): Steps<Map<string, OpportunityRecord>> {
  const named = (record: OpportunityRecord) => [chainKey(record.chainId, record.vaultAddress), record] as const
  return new Map(yield* mapInSteps(opportunities.values(), named))
}

/** Stands in for a token the catalogue does not describe. */
function unknownToken(vault: VaultRecord, member: 'asset' | 'receiptToken'): TokenRecord {
  return {
    chainId: vault.chainId,
    address: vault[member],
    decimals: member === 'asset' ? vault.assetDecimals : vault.receiptDecimals,
    symbol: '',
    name: '',
    logoUrl: '',
    active: false,
    pegUsd: null,
    priceFeed: null,
    priceVault: null,
    priceId: null,
    approvalReset: false,
    unsupportedReason: '',
    isAllowedRewardToken: false,
  }
}

function byId<T extends { id: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** By name in the text order of the wire, then by id. */
export function byName(a: { id: string; name: string }, b: { id: string; name: string }): number {
  return compareText(a.name, b.name) || (a.id < b.id ? -1 : 1)
}

/** The order by name of these rows, computed once. */
function rankByName<T extends { id: string; name: string }>(rows: readonly T[]): (a: T, b: T) => number {
  const ranks = new Map([...rows].sort(byName).map(({ id }, rank) => [id, rank]))
  return (a, b) => (ranks.get(a.id) ?? 0) - (ranks.get(b.id) ?? 0)
}

function* group<T extends { opportunityId: string }>(rows: readonly T[]): Steps<Map<string, T[]>> {
  const groups = new Map<string, T[]>()
  yield* mapInSteps(rows, (row) => {
    const members = groups.get(row.opportunityId)
    if (members) members.push(row)
    else groups.set(row.opportunityId, [row])
  })
  return groups
}

function collect(pairs: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const sets = new Map<string, Set<string>>()
  for (const [key, value] of pairs) {
    const set = sets.get(key)
    if (set) set.add(value)
    else sets.set(key, new Set([value]))
  }
  return sets
}

/** The opportunity, active or not. Ids compare without case. */
export function findOpportunity(snapshot: CatalogueSnapshot, id: string): OpportunityRecord | undefined {
  return snapshot.opportunities.get(id.toLowerCase())
}

/** The opportunity of a vault, active or not. */
export function findOpportunityByVault(
  snapshot: CatalogueSnapshot,
  chainId: number,
  vaultAddress: string,
): OpportunityRecord | undefined {
  return snapshot.opportunitiesByVault.get(chainKey(chainId, vaultAddress))
}

/** The distributor of a builder code; codes compare byte for byte. */
export function findDistributor(snapshot: CatalogueSnapshot, id: string): DistributorRecord | undefined {
  return snapshot.distributors.get(id)
}

/** The token, active or not. */
export function findToken(snapshot: CatalogueSnapshot, chainId: number, address: string): TokenRecord | undefined {
  return snapshot.tokens.get(chainKey(chainId, address))
}

export function findProduct(snapshot: CatalogueSnapshot, id: string): ProductRecord | undefined {
  return snapshot.products.get(id.toLowerCase())
}

export function findVault(snapshot: CatalogueSnapshot, chainId: number, address: string): VaultRecord | undefined {
  return snapshot.vaults.get(chainKey(chainId, address))
}
