import T, { type Static } from 'typebox'
import { Address, ChainId, Nullable, Raw, Ts, Uuid } from '../../kernel/wire.js'

export const TokenSchema = T.Object(
  {
    address: Address,
    chainId: ChainId,
    decimals: T.Integer(),
    symbol: T.String(),
    name: T.String(),
    logoUrl: T.String(),
  },
  { title: 'Token' },
)

export const ChainSchema = T.Object(
  {
    chainId: ChainId,
    name: T.String(),
    logoUrl: T.String(),
    explorerUrl: T.String(),
  },
  { title: 'Chain' },
)

export const ProtocolSchema = T.Object(
  { name: T.String(), logoUrl: T.String(), siteUrl: T.String() },
  { title: 'Protocol' },
)

export const organizationTypes = [
  'curator',
  'provider',
  'partner',
  'lending-protocol',
  'distributor',
  'reward-sponsor',
] as const

export const OrganizationOptionSchema = T.Object(
  {
    id: Uuid,
    name: T.String(),
    iconUrl: T.String(),
    landingUrl: T.String(),
    organizationType: T.Enum([...organizationTypes]),
  },
  { title: 'OrganizationOption' },
)

export const rewardTypes = ['points', 'tokens', 'yield', 'vesting'] as const

export const IncentiveSchema = T.Object(
  {
    id: Uuid,
    name: T.String(),
    description: T.String(),
    iconUrl: T.String(),
    rewardType: T.Enum([...rewardTypes]),
    rewardTypeName: T.String(),
    apr: Nullable(T.Number({ description: 'Percent a year' })),
    minApr: Nullable(T.Number()),
    maxApr: Nullable(T.Number()),
    estPriceUsd: Nullable(T.Number()),
    fdvEstimate: Nullable(T.Number()),
    tokenSupplyAllocation: Nullable(T.Number()),
    indexed: T.Boolean(),
  },
  { title: 'Incentive' },
)

export const MetaSchema = T.Object(
  {
    depositEnabled: T.Boolean(),
    withdrawEnabled: T.Boolean(),
    directInteractionEnabled: T.Boolean(),
    routedSwapEnabled: T.Boolean(),
    asyncDeposit: T.Boolean(),
    asyncWithdraw: T.Boolean(),
    isSecondaryMarket: T.Boolean(),
    depositDisabledReason: T.String({ description: 'Empty when deposits are enabled' }),
    withdrawalDisabledReason: T.String({ description: 'Empty when withdrawals are enabled' }),
  },
  { title: 'OpportunityMeta' },
)

export const MovementSchema = T.Object(
  {
    current: Nullable(T.Number()),
    d1: Nullable(T.Number({ description: 'Absolute change over the trailing day' })),
    d7: Nullable(T.Number({ description: 'Absolute change over the trailing 7 days' })),
    d30: Nullable(T.Number({ description: 'Absolute change over the trailing 30 days' })),
  },
  { title: 'Movement' },
)

export const DeltasSchema = T.Object(
  { tvl: MovementSchema, lps: MovementSchema, apy: MovementSchema },
  { title: 'Deltas' },
)

export const opportunityTypes = ['vault', 'lending', 'liquid-staking', 'structured'] as const

export const CuratorSchema = T.Object(
  {
    id: Uuid,
    name: T.String(),
    description: T.String(),
    iconUrl: T.String(),
    landingUrl: T.String(),
  },
  { title: 'Curator' },
)

export const OpportunitySchema = T.Object(
  {
    id: Uuid,
    slug: T.String(),
    name: T.String(),
    description: T.String(),
    type: T.Enum([...opportunityTypes]),
    kind: T.String({ description: 'Kind of the vault: which calls do what (docs/vault-kinds.md)' }),
    tvl: T.Number({ description: 'US dollars; 0 when it cannot be priced, then freshness.analyticsAt is null' }),
    estimatedApr: T.Number({ description: 'Percent a year: the sum of the active incentives' }),
    minDepositAmountUsd: T.Number(),
    minWithdrawAmount: T.Number({ description: 'Whole receipt tokens' }),
    featured: T.Boolean(),
    baseToken: TokenSchema,
    depositTokens: T.Array(TokenSchema),
    receiptToken: TokenSchema,
    curator: T.Optional(CuratorSchema),
    incentives: T.Array(IncentiveSchema),
    meta: MetaSchema,
    swapDirectEnabled: T.Boolean(),
    swapRouteEnabled: T.Boolean(),
    tags: T.Array(T.String()),
    curatorId: Nullable(Uuid),
    providerIds: T.Array(Uuid),
    partnerIds: T.Array(Uuid),
    lendingProtocolIds: T.Array(Uuid),
    productIds: T.Array(Uuid),
    chainId: ChainId,
    vaultAddress: Address,
    freshness: T.Object({ analyticsAt: Nullable(Ts), capabilityAt: Nullable(Ts) }),
    deltas: T.Optional(DeltasSchema),
  },
  { title: 'Opportunity' },
)

export const TagSchema = T.Object(
  {
    id: Uuid,
    code: T.String(),
    name: T.String(),
    description: T.String(),
    color: T.String(),
  },
  { title: 'Tag' },
)

export type Token = Static<typeof TokenSchema>
export type Chain = Static<typeof ChainSchema>
export type Protocol = Static<typeof ProtocolSchema>
export type OrganizationType = (typeof organizationTypes)[number]
export type OrganizationOption = Static<typeof OrganizationOptionSchema>
export type Incentive = Static<typeof IncentiveSchema>
export type Opportunity = Static<typeof OpportunitySchema>
export type Movement = Static<typeof MovementSchema>
export type Deltas = Static<typeof DeltasSchema>
export type Tag = Static<typeof TagSchema>

/** The kinds of routers whose calls a verifier reads. */
export const routerKinds = ['uniswap-v2', 'uniswap-v3', 'swap-router-02', 'deposit-router'] as const

export const VerificationContextSchema = T.Object(
  {
    chainId: ChainId,
    vaults: T.Array(
      T.Object({
        opportunityId: Uuid,
        address: Address,
        asset: Address,
        share: Address,
        kind: T.String(),
        contracts: T.Array(Address, {
          description: 'Further contracts of the vault, in the order of the names that its kind gives them',
        }),
      }),
    ),
    routers: T.Array(T.Object({ address: Address, kind: T.Enum([...routerKinds]) })),
    wrappers: T.Array(Address),
    depositRouter: Nullable(Address),
    wrappedNative: Nullable(Address),
    quoter: Nullable(Address),
    settlement: Nullable(Address),
    relayer: Nullable(Address),
    streamFactory: Nullable(Address),
    signers: T.Array(Address, { description: 'Keys that sign new plans; retired ones are left out' }),
    gasCap: Nullable(Raw),
  },
  { title: 'VerificationContext' },
)
