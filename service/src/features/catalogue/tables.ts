import T from 'typebox'
import { Code, Instant, Slug, TagCode, Text, Url, Usd } from '../../postgres/fileMembers.js'
import { decimal, describeImported, found, instant, kept, optional, required } from '../../postgres/imported.js'
import { opportunityTypes, organizationTypes, rewardTypes } from './schema.js'

/**
 * The catalogue's tables, a column a line, under the names they have in a row that is read. schema.ts and item.ts
 * define the wire shape of a row.
 */

export const tables = {
  organizations: describeImported('organizations', ['id'], {
    id: found<string>(),
    name: required(Text),
    description: optional(Text, ''),
    iconUrl: optional(Url, ''),
    landingUrl: optional(Url, ''),
    organizationType: required(T.Enum([...organizationTypes])),
    premium: optional(T.Boolean(), false),
  }),

  tags: describeImported('tags', ['code'], {
    id: found<string>(),
    code: required(TagCode),
    name: required(Text),
    description: optional(Text, ''),
    color: optional(Text, ''),
  }),

  products: describeImported('products', ['id'], {
    id: found<string>(),
    name: required(Text),
    organizationId: found<string | null>(),
  }),

  opportunities: describeImported('opportunities', ['id'], {
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

  incentives: describeImported('incentives', [], {
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

  distributors: describeImported('distributors', ['id'], {
    id: required(Code),
    organizationId: found<string>(),
    name: optional(Text, ''),
    activeFrom: instant(Instant),
  }),

  opportunityTokens: describeImported('opportunity_tokens', [], {
    opportunityId: found<string>(),
    chainId: found<number>(),
    address: found<string>(),
    position: found<number>(),
  }),

  opportunityOrganizations: describeImported('opportunity_organizations', [], {
    opportunityId: found<string>(),
    organizationId: found<string>(),
    role: found<'provider' | 'partner' | 'lending-protocol'>(),
  }),

  opportunityTags: describeImported('opportunity_tags', [], {
    opportunityId: found<string>(),
    tagId: found<string>(),
  }),

  opportunityProducts: describeImported('opportunity_products', [], {
    opportunityId: found<string>(),
    productId: found<string>(),
  }),

  distributorOpportunities: describeImported('distributor_opportunities', [], {
    distributorId: found<string>(),
    opportunityId: found<string>(),
  }),

  distributorProducts: describeImported('distributor_products', [], {
    distributorId: found<string>(),
    productId: found<string>(),
  }),
}
