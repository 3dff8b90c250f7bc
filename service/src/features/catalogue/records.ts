import type { RecordOf } from '../../postgres/imported.js'
import type { tokensTable } from '../../prices/index.js'
import type { chainsTable } from '../../rpc/storeChains.js'
import type { protocolsTable, vaultsTable } from '../../vaults/configured/index.js'
import type { Deltas } from './schema.js'
import type { Signer } from './storeSigners.js'
import type { tables } from './tables.js'

/** The catalogue as kept in the database: addresses lower-case, `numeric` as text. */

export type ChainRecord = RecordOf<typeof chainsTable>

export type TokenRecord = RecordOf<typeof tokensTable>

export type OrganizationRecord = RecordOf<typeof tables.organizations>

export type DistributorRecord = RecordOf<typeof tables.distributors> & {
  /** The newest setting; the one in force at a block is derive's matter. */
  signedOnly: boolean
}

export type ProtocolRecord = RecordOf<typeof protocolsTable>

export type ProductRecord = RecordOf<typeof tables.products>

export type TagRecord = RecordOf<typeof tables.tags>

export type VaultRecord = RecordOf<typeof vaultsTable>

/** A vault's own state as last read from its chain. */
export type CapabilityRecord = {
  depositOpen: boolean
  withdrawOpen: boolean
  depositClosedReason: string
  withdrawClosedReason: string
  /** Completes at once now, though vaults of the kind may take a request instead. */
  depositAtOnce: boolean
  withdrawAtOnce: boolean
  capabilityAt: Date
}

export type OpportunityRow = RecordOf<typeof tables.opportunities> & Live & References

/** The references of an opportunity: each list as one text, separated by spaces, so that rows compare quickly. */
export type References = {
  /** By `chainKey`, in the order shown. */
  tokenKeys: string
  tagIds: string
  productIds: string
  /** Ids of organizations, by role. */
  providerList: string
  partnerList: string
  lendingProtocolList: string
}

/** Figures of an opportunity that jobs push. */
export type Live = {
  tvlUsd: string | null
  deltas: Partial<Deltas>
  /** The APR of indexed yield incentives, in percent; null while it is withheld. */
  indexedApr: string | null
  /** The APR of indexed incentives of tokens and points. */
  streamAprs: StreamAprs
  analyticsAt: Date | null
  capability: CapabilityRecord | null
}

/** Percent a year by reward type, of the streams that run; absent: none does; null: it is not known. */
export type StreamAprs = { tokens?: number | null; points?: number | null }

export type LiveRow = { id: string } & Live

export type IncentiveRow = RecordOf<typeof tables.incentives>

export type OrganizationRole = RecordOf<typeof tables.opportunityOrganizations>['role']

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
  tags: readonly TagRecord[]
  vaults: readonly VaultRecord[]
  opportunities: readonly OpportunityRow[]
  /** In the order shown. */
  incentives: readonly IncentiveRow[]
  distributorOpportunities: readonly RecordOf<typeof tables.distributorOpportunities>[]
  distributorProducts: readonly RecordOf<typeof tables.distributorProducts>[]
  /** The attribution keys, present and retired. */
  signers: readonly Signer[]
}

/** Key of a token or vault: its chain and lower-case address. */
export function chainKey(chainId: number, address: string): string {
  return `${chainId}:${address.toLowerCase()}`
}
