import { mapInSteps, runAtOnce, type Steps } from '../../../kernel/async/inSlices.js'
import { findVaultKind } from '../../../vaults/index.js'
import { decideCapabilities } from '../capability.js'
import { computeEstimatedApr } from '../item.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import {
  type CapabilityRecord,
  type CatalogueRows,
  type ChainRecord,
  chainKey,
  type DistributorRecord,
  type IncentiveRow,
  type Live,
  type LiveRow,
  type OpportunityRow,
  type OrganizationRecord,
  type ProductRecord,
  type ProtocolRecord,
  type TagRecord,
  type TokenRecord,
  type VaultRecord,
} from '../records.js'
import type { Signer } from '../storeSigners.js'
import { compareText } from '../text.js'
import { isAll, keep, keepRows, keepSets, sayAll, says } from './keep.js'

/** The part that two snapshots share if they differ only in pushed figures. Compared by identity. */
export type CatalogueBase = {
  /** Ids of the listed opportunities, ascending; a place in this list is an opportunity's position. */
  readonly listedIds: readonly string[]
}

/** The whole catalogue, inactive entries included, as it was at one instant. Never changes. */
export type CatalogueSnapshot = {
  readonly version: number
  readonly liveVersion: number
  /** The same object as long as nothing but the versions differs. Compared by identity. */
  readonly content: object
  readonly base: CatalogueBase
  readonly chains: ReadonlyMap<number, ChainRecord>
  /** By `chainKey`. */
  readonly tokens: ReadonlyMap<string, TokenRecord>
  readonly organizations: ReadonlyMap<string, OrganizationRecord>
  readonly distributors: ReadonlyMap<string, DistributorRecord>
  readonly protocols: ReadonlyMap<string, ProtocolRecord>
  readonly products: ReadonlyMap<string, ProductRecord>
  readonly tags: ReadonlyMap<string, TagRecord>
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
  /** The attribution keys by address, present and retired. */
  readonly signers: ReadonlyMap<string, Signer>
}

/** Joins the rows. Pure. */
export function buildSnapshot(rows: CatalogueRows): CatalogueSnapshot {
  return runAtOnce(joinRows(rows))
}

/**
 * The same in steps: thousands of opportunities take longer than a request may wait. Objects that equal those of `previous`
 * are taken from there.
 */
export function* joinRows(rows: CatalogueRows, previous?: CatalogueSnapshot): Steps<CatalogueSnapshot> {
  const parts = {
    chains: yield* keepRows(previous?.chains, rows.chains, (chain) => chain.chainId),
    tokens: yield* keepRows(previous?.tokens, rows.tokens, (token) => chainKey(token.chainId, token.address)),
    organizations: yield* keepRows(previous?.organizations, rows.organizations, idOf),
    products: yield* keepRows(previous?.products, rows.products, idOf),
    vaults: yield* keepRows(previous?.vaults, rows.vaults, (vault) => chainKey(vault.chainId, vault.address)),
    tags: yield* keepRows(previous?.tags, rows.tags, idOf),
  }
  const opportunities = yield* joinOpportunities(rows, parts, previous)
  const inProducts = yield* mapInSteps(opportunities.values(), ({ id, productIds }) =>
    listed(productIds).map((productId) => [productId, id] as const),
  )
  const productOpportunities = yield* keepSets(previous?.productOpportunities, inProducts.flat())
  const made = {
    ...parts,
    distributors: yield* keepRows(previous?.distributors, rows.distributors, idOf),
    protocols: yield* keepRows(previous?.protocols, rows.protocols, idOf),
    opportunities,
    opportunitiesByVault:
      opportunities === previous?.opportunities ? previous.opportunitiesByVault : yield* byVault(opportunities),
    productOpportunities,
    signers: yield* keepRows(previous?.signers, rows.signers, (signer) => signer.address),
    distributorOpportunities: yield* keepSets(
      previous?.distributorOpportunities,
      listShown(rows, productOpportunities),
    ),
  }
  const { version, liveVersion } = rows
  if (previous && isAll(previous, made)) return { ...previous, version, liveVersion }
  const isListedAlike =
    opportunities === previous?.opportunities && made.distributorOpportunities === previous.distributorOpportunities
  const base = isListedAlike
    ? previous.base
    : { listedIds: [...opportunities.values()].filter((record) => record.listed).map(idOf) }
  return { version, liveVersion, content: {}, base, ...made }
}

type Parts = Pick<CatalogueSnapshot, 'chains' | 'tokens' | 'organizations' | 'products' | 'vaults' | 'tags'>

function* joinOpportunities(
  rows: CatalogueRows,
  parts: Parts,
  previous: CatalogueSnapshot | undefined,
): Steps<ReadonlyMap<string, OpportunityRecord>> {
  const { chains, tokens, organizations, products, vaults, tags } = parts
  const incentivesOf = yield* group(rows.incentives)
  const inNameOrder = rankByName(rows.organizations)
  const inProductOrder = rankByName(rows.products)
  const isBaseKnown = previous !== undefined && isAll(previous, parts)
  const join = (row: OpportunityRow): OpportunityRecord[] => {
    const known = previous?.opportunities.get(row.id)
    const listedIncentives = incentivesOf.get(row.id) ?? []
    if (known && isBaseKnown && says<OpportunityRow>(known, row) && sayAll(known.listedIncentives, listedIncentives))
      return [known]
    const vault = vaults.get(chainKey(row.chainId, row.vaultAddress))
    if (!vault) return []
    const isListed = row.active && chains.get(row.chainId)?.active === true
    const incentives = showIndexed(listedIncentives, row)
    const inRole = (ids: string) => findListed(organizations, ids).sort(inNameOrder)
    const made: OpportunityRecord = {
      ...row,
      listed: isListed,
      capabilities: decideCapabilities(isListed, row, row.capability, isPlanned(vault)),
      ...decideWaits(vault, row.capability),
      vault,
      baseToken: tokens.get(chainKey(vault.chainId, vault.asset)) ?? unknownToken(vault, 'asset'),
      receiptToken: tokens.get(chainKey(vault.chainId, vault.receiptToken)) ?? unknownToken(vault, 'receiptToken'),
      depositTokens: findListed(tokens, row.tokenKeys).filter((token) => token.active),
      curator: (row.curatorId === null ? undefined : organizations.get(row.curatorId)) ?? null,
      providers: inRole(row.providerList),
      partners: inRole(row.partnerList),
      lendingProtocols: inRole(row.lendingProtocolList),
      tags: findListed(tags, row.tagIds).sort((a, b) => compareText(a.code, b.code)),
      products: findListed(products, row.productIds).sort(inProductOrder),
      listedIncentives,
      incentives,
      estimatedApr: computeEstimatedApr(incentives),
    }
    return [keep(known, made)]
  }
  return yield* keepRows(previous?.opportunities, (yield* mapInSteps(rows.opportunities, join)).flat(), idOf)
}

/** Whether a deposit and a withdrawal wait: by the kind, unless the vault completes them at once now. */
function decideWaits(
  { kind: name }: Pick<VaultRecord, 'kind'>,
  capability: CapabilityRecord | null,
): Pick<OpportunityRecord, 'asyncDeposit' | 'asyncWithdraw'> {
  const kind = findVaultKind(name)
  const withdraws = kind?.asyncRedeem === true || kind?.redeemsLater === true || kind?.readCooling !== undefined
  return {
    asyncDeposit: kind?.asyncDeposit === true && capability?.depositAtOnce !== true,
    asyncWithdraw: withdraws && capability?.withdrawAtOnce !== true,
  }
}

/** The entries of a text with a space between two. */
const listed = (text: string) => (text === '' ? [] : text.split(' '))

function findListed<V>(rows: ReadonlyMap<string, V>, keys: string): V[] {
  return listed(keys).flatMap((key) => rows.get(key) ?? [])
}

/** The opportunities of each distributor: its own and those of its products. */
function* listShown(
  { distributorOpportunities, distributorProducts }: CatalogueRows,
  productOpportunities: CatalogueSnapshot['productOpportunities'],
): Generator<readonly [string, string]> {
  for (const { distributorId, opportunityId } of distributorOpportunities) yield [distributorId, opportunityId]
  for (const { distributorId, productId } of distributorProducts)
    for (const opportunityId of productOpportunities.get(productId) ?? []) yield [distributorId, opportunityId]
}

/** The snapshot with what jobs pushed since; an opportunity nothing was pushed about stays the same object. Pure. */
export function* patchSnapshot(
  previous: CatalogueSnapshot,
  liveVersion: number,
  live: readonly LiveRow[],
): Steps<CatalogueSnapshot> {
  const rows = new Map(live.map((row) => [row.id, row]))
  const patch = (record: OpportunityRecord): OpportunityRecord => {
    const row = rows.get(record.id)
    if (!row || says<LiveRow>(record, row)) return record
    const capabilities = decideCapabilities(record.listed, record, row.capability, isPlanned(record.vault))
    const incentives = showIndexed(record.listedIncentives, row)
    const waits = decideWaits(record.vault, row.capability)
    return { ...record, ...row, ...waits, capabilities, incentives, estimatedApr: computeEstimatedApr(incentives) }
  }
  const opportunities = yield* keepRows(
    previous.opportunities,
    yield* mapInSteps(previous.opportunities.values(), patch),
    idOf,
  )
  if (opportunities === previous.opportunities) return { ...previous, liveVersion }
  const opportunitiesByVault = yield* byVault(opportunities)
  return { ...previous, liveVersion, content: {}, opportunities, opportunitiesByVault }
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

const idOf = ({ id }: { id: string }) => id

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
