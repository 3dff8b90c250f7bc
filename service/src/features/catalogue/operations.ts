import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { AddressInput, ChainId, PageOf, pageQuery, Uuid } from '../../kernel/wire.js'
import type { CatalogueContext } from './catalogue.js'
import { getChains } from './getChains.js'
import { getOpportunity } from './getOpportunity.js'
import { getOpportunityFilterOptions } from './getOpportunityFilterOptions.js'
import { getProtocols } from './getProtocols.js'
import { getTokenByAddress } from './getTokenByAddress.js'
import { getTokens } from './getTokens.js'
import { getVerificationContext } from './getVerificationContext.js'
import { listOpportunities } from './listOpportunities.js'
import { listOpportunitiesByDistributor } from './listOpportunitiesByDistributor.js'
import { includeDeltasQuery, ListingQuery } from './memory/listing.js'
import { sortOptions } from './memory/sort.js'
import {
  ChainSchema,
  OpportunitySchema,
  OrganizationOptionSchema,
  ProtocolSchema,
  TagSchema,
  TokenSchema,
  VerificationContextSchema,
} from './schema.js'

const malformed = 'A parameter is malformed'

const FilterOptionsSchema = T.Object({
  chains: T.Array(ChainSchema),
  providers: T.Array(OrganizationOptionSchema),
  curators: T.Array(OrganizationOptionSchema),
  partners: T.Array(OrganizationOptionSchema),
  lendingProtocols: T.Array(OrganizationOptionSchema),
  tags: T.Array(TagSchema),
  depositTokenSymbols: T.Array(T.Object({ symbol: T.String(), logoUrl: T.String() })),
  sortOptions: T.Array(T.Object({ value: T.Enum(sortOptions.map(({ value }) => value)), label: T.String() })),
})

const common = {
  method: 'GET',
  access: 'publishable',
  cost: 1,
  cacheable: (ctx: CatalogueContext) => ctx.catalogue.current().content,
} as const

/** The operations of the catalogue. */
export const catalogueOperations: readonly Operation<CatalogueContext>[] = [
  defineOperation({
    ...common,
    operationId: 'GetChains',
    path: '/v2/chains/',
    tag: 'Chains',
    summary: 'List chains',
    description: 'The chains in use, by id.',
    query: T.Object(pageQuery),
    responses: { 200: PageOf(ChainSchema), 400: malformed },
    run: getChains,
  }),
  defineOperation({
    ...common,
    operationId: 'GetTokens',
    path: '/v2/tokens/',
    tag: 'Tokens',
    summary: 'List tokens',
    description: 'The tokens known, receipt tokens of vaults included, by chain, symbol and address.',
    query: T.Object({
      ...pageQuery,
      chainId: T.Optional(ChainId),
      search: T.Optional(T.String({ description: 'Part of the address, name or symbol, upper and lower case alike' })),
    }),
    responses: { 200: PageOf(TokenSchema), 400: malformed },
    run: getTokens,
  }),
  defineOperation({
    ...common,
    operationId: 'GetTokenByAddress',
    path: '/v2/tokens/{chainId}/{address}',
    tag: 'Tokens',
    summary: 'Get a token',
    description: 'One token by its chain and address.',
    params: T.Object({ chainId: ChainId, address: AddressInput }),
    responses: { 200: TokenSchema, 400: malformed, 404: 'No such token' },
    run: getTokenByAddress,
  }),
  defineOperation({
    ...common,
    operationId: 'GetVerificationContext',
    path: '/v2/verification',
    tag: 'Chains',
    summary: 'List the contracts and signers of a chain that plans are compared with',
    description:
      'The vaults, routers, wrappers and further contracts that the plans of a chain call, the keys that sign its ' +
      'attributions, and the most gas of a transaction. `verifyPlan` of the sdk compares each plan with them. A file of ' +
      'your own (`openearn trust export`) says the same without the word of this service.',
    query: T.Object({ chainId: ChainId }),
    responses: { 200: VerificationContextSchema, 400: malformed },
    run: getVerificationContext,
  }),
  defineOperation({
    ...common,
    operationId: 'GetProtocols',
    path: '/v2/protocols/',
    tag: 'Protocols',
    summary: 'List protocols',
    description: 'The protocols vaults are built with, by name.',
    query: T.Object(pageQuery),
    responses: { 200: PageOf(ProtocolSchema), 400: malformed },
    run: getProtocols,
  }),
  defineOperation({
    ...common,
    operationId: 'ListOpportunities',
    path: '/v2/opportunities/',
    tag: 'Opportunities',
    summary: 'List opportunities',
    description:
      'Active opportunities. Values in one filter are alternatives, different filters all apply. Opportunities ' +
      'without the value sorted by come last in both orders.',
    query: ListingQuery,
    responses: { 200: PageOf(OpportunitySchema), 400: malformed },
    run: listOpportunities,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunityFilterOptions',
    path: '/v2/opportunities/filter-options',
    tag: 'Opportunities',
    summary: 'List filter values',
    description: 'The values that at least one active opportunity has, and what a list can be sorted by.',
    responses: { 200: FilterOptionsSchema },
    run: getOpportunityFilterOptions,
  }),
  defineOperation({
    ...common,
    operationId: 'ListOpportunitiesByDistributor',
    path: '/v2/opportunities/distributors/{distributorId}',
    tag: 'Opportunities',
    summary: "List a distributor's opportunities",
    description: 'Active opportunities among those the distributor is configured to show, by itself or as products.',
    params: T.Object({ distributorId: T.String({ description: 'Builder code' }) }),
    query: ListingQuery,
    responses: { 200: PageOf(OpportunitySchema), 400: malformed, 404: 'No such distributor' },
    run: listOpportunitiesByDistributor,
  }),
  defineOperation({
    ...common,
    operationId: 'GetOpportunity',
    path: '/v2/opportunities/{id}',
    tag: 'Opportunities',
    summary: 'Get an opportunity',
    description: 'One active opportunity.',
    params: T.Object({ id: Uuid }),
    query: T.Object(includeDeltasQuery),
    responses: { 200: OpportunitySchema, 400: malformed, 404: 'No such opportunity, or it is not active' },
    run: getOpportunity,
  }),
]
