/**
 * The kinds of vaults: what each can do, how its calls are built and said, what it emits and which calls make that, how its
 * figures are read. A kind is one file of `kinds/`. The vaults of this installation and their tables stand behind the door of
 * `configured/`.
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
  toVault,
  type Vault,
  type VaultCall,
  type VaultFigures,
  type VaultKind,
  type WithdrawAsk,
} from './kind.js'
export { requestTopics, viewRequest } from './kinds/asyncRequests.js'
export { findVaultKind, listErrors, vaultKinds } from './kinds.js'
export { decodeVaultEvent, findMakingCall, vaultTopics } from './logs.js'
export { anybody } from './reading.js'
export { listRouterErrors, throughRouter } from './router.js'
