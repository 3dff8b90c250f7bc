import type { Capabilities } from './capability.js'
import type {
  IncentiveRow,
  OpportunityRow,
  OrganizationRecord,
  ProductRecord,
  TokenRecord,
  VaultRecord,
} from './records.js'
import type { Tag } from './schema.js'

/** An opportunity with everything it refers to. */
export type OpportunityRecord = OpportunityRow & {
  /** Shown in lists: active, on an active chain. */
  listed: boolean
  capabilities: Capabilities
  vault: VaultRecord
  baseToken: TokenRecord
  receiptToken: TokenRecord
  /** Active tokens a deposit accepts, in the order shown. */
  depositTokens: readonly TokenRecord[]
  curator: OrganizationRecord | null
  providers: readonly OrganizationRecord[]
  partners: readonly OrganizationRecord[]
  lendingProtocols: readonly OrganizationRecord[]
  tags: readonly Tag[]
  products: readonly ProductRecord[]
  incentives: readonly IncentiveRow[]
  /** Percent a year. */
  estimatedApr: number
}
