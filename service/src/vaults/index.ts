/**
 * The kinds of vaults: their capabilities, their calls and the sentences about them, their events and the calls that make them,
 * and the reads of their figures. A kind is one file of `kinds/`. `configured/` has the vaults of this installation and their
 * tables.
 */
export type { EmittingVault, VaultEvent } from './events.js'
export { readFigures, readVaultStates, type VaultState } from './figures.js'
export {
  type Alternative,
  type DepositAsk,
  listEvents,
  type ObservedVault,
  type Offer,
  type PlannedKind,
  type Recognised,
  type RequestViews,
  toVault,
  type Vault,
  type VaultCall,
  type VaultFigures,
  type VaultKind,
  type WithdrawAsk,
} from './kind.js'
export { findVaultKind, listErrors, vaultKinds } from './kinds.js'
export { decodeVaultEvent, findMakingCall, vaultTopics } from './logs.js'
export { anybody } from './reading.js'
export { requestTopics, viewRequest } from './requests.js'
export { listRouterErrors, throughRouter } from './router.js'
