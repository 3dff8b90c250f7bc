import T from 'typebox'
import { ChainId } from '../../kernel/wire.js'
import { vaultKinds } from '../../vaults/index.js'
import {
  AddressText,
  Code,
  ContractName,
  Decimals,
  DecimalText,
  Instant,
  RpcUrl,
  Slug,
  TagCode,
  Text,
  Url,
  Usd,
} from './import/fileMembers.js'
import { opportunityTypes, organizationTypes, rewardTypes } from './schema.js'
import { decimal, describeTable, found, instant, kept, list, optional, required } from './table.js'

/**
 * The catalogue's tables, a column a line, under the names they have in a row that is read. What the wire shows of a
 * row is schema.ts's and item.ts's.
 */

const Whole = (minimum: number, maximum: number) => T.Integer({ minimum, maximum })

export const tables = {
  organizations: describeTable('organizations', ['id'], {
    id: found<string>(),
    name: required(Text),
    description: optional(Text, ''),
    iconUrl: optional(Url, ''),
    landingUrl: optional(Url, ''),
    organizationType: required(T.Enum([...organizationTypes])),
    premium: optional(T.Boolean(), false),
  }),

  chains: describeTable('chains', ['chainId'], {
    chainId: required(ChainId),
    name: required(Text),
    slug: required(Slug),
    logoUrl: optional(Url, ''),
    explorerUrl: optional(Url, ''),
    nativeSymbol: optional(Text, 'ETH'),
    active: kept(T.Boolean(), true),
    /** Followed by this installation; a chain that is only described is not. */
    watched: kept(T.Boolean(), false),
    rpcUrls: list(RpcUrl),
    confirmations: kept(Whole(1, 100_000), 1),
    finalityDepth: kept(Whole(1, 1_000_000), 64),
    pollIntervalMs: kept(Whole(50, 3_600_000), 1_000),
    reorgRecheckSeconds: kept(Whole(0, 3_600), 2),
    entryPoints: list(AddressText),
    /** The ERC-20 that wraps the native token. */
    wrappedNative: kept(AddressText, null),
    transactionGasCap: kept(Whole(1_000_000, 1_000_000_000), null),
    l1GasInLimit: kept(T.Boolean(), false),
  }),

  tokens: describeTable('tokens', ['chainId', 'address'], {
    chainId: required(ChainId),
    address: required(AddressText),
    decimals: required(Decimals),
    symbol: required(Text),
    name: required(Text),
    logoUrl: optional(Url, ''),
    active: kept(T.Boolean(), true),
    pegUsd: decimal(T.Union([Usd, DecimalText]), null),
    /** approve() refuses to change a non-zero allowance to another non-zero one. */
    approvalReset: optional(T.Boolean(), false),
    /** Why it cannot be deposited; `''` when it can. */
    unsupportedReason: optional(Text, ''),
  }),

  protocols: describeTable('protocols', ['id'], {
    id: found<string>(),
    name: required(Text),
    logoUrl: optional(Url, ''),
    siteUrl: optional(Url, ''),
  }),

  tags: describeTable('tags', ['code'], {
    id: found<string>(),
    code: required(TagCode),
    name: required(Text),
    description: optional(Text, ''),
    color: optional(Text, ''),
  }),

  products: describeTable('products', ['id'], {
    id: found<string>(),
    name: required(Text),
    organizationId: found<string | null>(),
  }),

  vaults: describeTable('vaults', ['chainId', 'address'], {
    chainId: required(ChainId),
    address: required(AddressText),
    /** Decides which sides are asynchronous. */
    kind: required(T.Enum(vaultKinds.map(({ name }) => name))),
    protocolId: found<string | null>(),
    asset: required(AddressText),
    assetDecimals: found<number>(),
    receiptToken: found<string>(),
    receiptDecimals: found<number>(),
    /** Holds shares on the way in or out; never a depositor. */
    escrow: optional(AddressText, null),
    /** Those beside the vault that its kind knows, by name: what they emit is the vault's. */
    contracts: optional(T.Record(ContractName, AddressText), {}),
    startBlock: kept(T.Integer({ minimum: 0 }), 0),
    activeFrom: instant(Instant),
    snapshotIntervalSeconds: kept(Whole(60, 86_400), 900),
  }),

  opportunities: describeTable('opportunities', ['id'], {
    id: found<string>(),
    slug: required(Slug),
    name: required(Text),
    description: optional(Text, ''),
    type: required(T.Enum([...opportunityTypes])),
    chainId: found<number>(),
    vaultAddress: found<string>(),
    curatorId: found<string | null>(),
    minDepositAmountUsd: decimal(Usd, '0'),
    minWithdrawAmount: decimal(Usd, '0'),
    featured: optional(T.Boolean(), false),
    active: kept(T.Boolean(), true),
    depositEnabled: kept(T.Boolean(), true),
    withdrawEnabled: kept(T.Boolean(), true),
    depositDisabledReason: kept(Text, ''),
    withdrawDisabledReason: kept(Text, ''),
    directInteractionEnabled: optional(T.Boolean(), true),
    routedSwapEnabled: optional(T.Boolean(), false),
    isSecondaryMarket: optional(T.Boolean(), false),
  }),

  incentives: describeTable('incentives', [], {
    id: found<string>(),
    opportunityId: found<string>(),
    position: found<number>(),
    name: required(Text),
    description: optional(Text, ''),
    iconUrl: optional(Url, ''),
    rewardType: required(T.Enum([...rewardTypes])),
    rewardTypeName: optional(Text, ''),
    apr: decimal(T.Number(), null),
    minApr: decimal(T.Number(), null),
    maxApr: decimal(T.Number(), null),
    estPriceUsd: decimal(Usd, null),
    fdvEstimate: decimal(Usd, null),
    tokenSupplyAllocation: decimal(Usd, null),
    indexed: optional(T.Boolean(), false),
    active: optional(T.Boolean(), true),
  }),

  distributors: describeTable('distributors', ['id'], {
    id: required(Code),
    organizationId: found<string>(),
    name: optional(Text, ''),
    activeFrom: instant(Instant),
  }),

  opportunityTokens: describeTable('opportunity_tokens', [], {
    opportunityId: found<string>(),
    chainId: found<number>(),
    address: found<string>(),
    position: found<number>(),
  }),

  opportunityOrganizations: describeTable('opportunity_organizations', [], {
    opportunityId: found<string>(),
    organizationId: found<string>(),
    role: found<'provider' | 'partner' | 'lending-protocol'>(),
  }),

  opportunityTags: describeTable('opportunity_tags', [], {
    opportunityId: found<string>(),
    tagId: found<string>(),
  }),

  opportunityProducts: describeTable('opportunity_products', [], {
    opportunityId: found<string>(),
    productId: found<string>(),
  }),

  distributorOpportunities: describeTable('distributor_opportunities', [], {
    distributorId: found<string>(),
    opportunityId: found<string>(),
  }),

  distributorProducts: describeTable('distributor_products', [], {
    distributorId: found<string>(),
    productId: found<string>(),
  }),
}
