import type { Deltas, OrganizationType, opportunityTypes, rewardTypes, Tag } from './schema.js'

/** The catalogue as kept in the database: addresses lower-case, `numeric` as text. */

export type ChainRecord = {
  chainId: number
  name: string
  slug: string
  logoUrl: string
  explorerUrl: string
  nativeSymbol: string
  active: boolean
  /** Followed by this installation; a chain that is only described is not. */
  watched: boolean
  rpcUrls: readonly string[]
  confirmations: number
  finalityDepth: number
  pollIntervalMs: number
  reorgRecheckSeconds: number
  entryPoints: readonly string[]
  /** The ERC-20 that wraps the native token. */
  wrappedNative: string | null
}

export type TokenRecord = {
  chainId: number
  address: string
  decimals: number
  symbol: string
  name: string
  logoUrl: string
  active: boolean
  pegUsd: string | null
  /** approve() refuses to change a non-zero allowance to another non-zero one. */
  approvalReset: boolean
  /** Why it cannot be deposited; `''` when it can. */
  unsupportedReason: string
}

export type OrganizationRecord = {
  id: string
  name: string
  description: string
  iconUrl: string
  landingUrl: string
  organizationType: OrganizationType
  premium: boolean
}

export type DistributorRecord = {
  id: string
  organizationId: string
  name: string
  activeFrom: Date
  /** The newest setting; the one in force at a block is derive's matter. */
  signedOnly: boolean
}

export type ProtocolRecord = { id: string; name: string; logoUrl: string; siteUrl: string }

export type ProductRecord = { id: string; name: string; organizationId: string | null }

export type VaultRecord = {
  chainId: number
  address: string
  kind: string
  protocolId: string | null
  asset: string
  assetDecimals: number
  receiptToken: string
  receiptDecimals: number
  startBlock: number
  activeFrom: Date
  snapshotIntervalSeconds: number
}

/** A vault's own state as last read from its chain. */
export type CapabilityRecord = {
  depositOpen: boolean
  withdrawOpen: boolean
  depositClosedReason: string
  withdrawClosedReason: string
  capabilityAt: Date
}

export type OpportunityRow = {
  id: string
  slug: string
  name: string
  description: string
  type: (typeof opportunityTypes)[number]
  chainId: number
  vaultAddress: string
  curatorId: string | null
  minDepositAmountUsd: string
  minWithdrawAmount: string
  featured: boolean
  active: boolean
  depositEnabled: boolean
  withdrawEnabled: boolean
  depositDisabledReason: string
  withdrawDisabledReason: string
  directInteractionEnabled: boolean
  routedSwapEnabled: boolean
  isSecondaryMarket: boolean
  asyncDeposit: boolean
  asyncWithdraw: boolean
} & Live

/** What jobs push about an opportunity. */
export type Live = {
  tvlUsd: string | null
  deltas: Partial<Deltas>
  analyticsAt: Date | null
  capability: CapabilityRecord | null
}

export type LiveRow = { id: string } & Live

export type IncentiveRow = {
  id: string
  opportunityId: string
  name: string
  description: string
  iconUrl: string
  rewardType: (typeof rewardTypes)[number]
  rewardTypeName: string
  apr: string | null
  minApr: string | null
  maxApr: string | null
  estPriceUsd: string | null
  fdvEstimate: string | null
  tokenSupplyAllocation: string | null
  indexed: boolean
}

export type OrganizationRole = 'provider' | 'partner' | 'lending-protocol'

/** Everything a snapshot is built from, read at one instant. Rows that belong together are joined by the builder. */
export type CatalogueRows = {
  version: number
  /** Raised by what jobs push, while `version` stands still. */
  liveVersion: number
  chains: readonly ChainRecord[]
  tokens: readonly TokenRecord[]
  organizations: readonly OrganizationRecord[]
  distributors: readonly DistributorRecord[]
  protocols: readonly ProtocolRecord[]
  products: readonly ProductRecord[]
  tags: readonly Tag[]
  vaults: readonly VaultRecord[]
  opportunities: readonly OpportunityRow[]
  /** In the order shown. */
  incentives: readonly IncentiveRow[]
  opportunityTokens: readonly { opportunityId: string; chainId: number; address: string }[]
  opportunityOrganizations: readonly { opportunityId: string; organizationId: string; role: OrganizationRole }[]
  opportunityTags: readonly { opportunityId: string; tagId: string }[]
  opportunityProducts: readonly { opportunityId: string; productId: string }[]
  distributorOpportunities: readonly { distributorId: string; opportunityId: string }[]
  distributorProducts: readonly { distributorId: string; productId: string }[]
}

/** Key of a token or vault: its chain and lower-case address. */
export function chainKey(chainId: number, address: string): string {
  return `${chainId}:${address.toLowerCase()}`
}
