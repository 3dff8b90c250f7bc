export { type EmittingVault, eventParties, type VaultEvent } from './events.js'
export { runSnapshots } from './jobSnapshots.js'
export {
  type Alternative,
  type DepositAsk,
  listEvents,
  type ObservedVault,
  type Offer,
  type PlannedKind,
  type RequestAsk,
  type RequestOffer,
  toVault,
  type Vault,
  type VaultCall,
  type VaultFigures,
  type VaultKind,
  type Verb,
  type WithdrawAsk,
  type WithdrawOffer,
} from './kind.js'
export { findVaultKind, listErrors, vaultKinds } from './kinds.js'
export { decodeVaultEvent, findMakingCall, isVaultAddress, listVaultAddresses, vaultTopics } from './logs.js'
export { type ProbedToken, type ProbedVault, ProbeError, probeVault } from './probe.js'
export {
  readVaultStates,
  type VaultState,
} from './snapshots.js'
export { type NewSnapshot, recordSnapshots, snapshotObservations } from './store.js'
export { decideByTrial, type TriedVault, tryVaults } from './trial.js'
