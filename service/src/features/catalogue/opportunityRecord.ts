import type { Capabilities } from './capability.js'
import type {
  IncentiveRow,
  OpportunityRow,
  OrganizationRecord,
  ProductRecord,
  TagRecord,
  TokenRecord,
  VaultRecord,
} from './records.js'

/** An opportunity with everything it refers to. */
export type OpportunityRecord = OpportunityRow & {
  /** Shown in lists: active, on an active chain. */
  listed: boolean
  capabilities: Capabilities
  /** Deposits (redemptions) are asked for first and claimed later: the kind of the vault says so. */
  asyncDeposit: boolean
  asyncWithdraw: boolean
  vault: VaultRecord
  baseToken: TokenRecord
  receiptToken: TokenRecord
  /** Active tokens a deposit accepts, in the order shown. */
  depositTokens: readonly TokenRecord[]
  curator: OrganizationRecord | null
  providers: readonly OrganizationRecord[]
  partners: readonly OrganizationRecord[]
  lendingProtocols: readonly OrganizationRecord[]
  tags: readonly TagRecord[]
  products: readonly ProductRecord[]
  /** As a file says of them. */
  listedIncentives: readonly IncentiveRow[]
  /** As they are shown: with the APR that is indexed, where one is. */
  incentives: readonly IncentiveRow[]
  /** Percent a year. */
  estimatedApr: number
}
