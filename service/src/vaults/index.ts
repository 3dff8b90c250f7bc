import type { VaultKind } from './kind.js'
import { erc4626 } from './kinds/erc4626.js'
import { erc5115 } from './kinds/erc5115.js'
import { erc7540, erc7540Deposit, erc7540Redeem } from './kinds/erc7540.js'
import { lagoon } from './kinds/lagoon.js'

export type {
  DepositAsk,
  Offer,
  RequestAsk,
  RequestOffer,
  Vault,
  VaultCall,
  VaultKind,
  Verb,
  WithdrawAsk,
  WithdrawOffer,
} from './kind.js'
export { toVault } from './kind.js'

export { erc4626, erc7540, lagoon }

/** Every vault kind there is. */
export const vaultKinds: readonly VaultKind[] = [erc4626, erc5115, erc7540, erc7540Deposit, erc7540Redeem, lagoon]

/** The kind of a vault by its configured name. */
export function findVaultKind(name: string): VaultKind | undefined {
  return vaultKinds.find((kind) => kind.name === name)
}

export { type ProbedToken, type ProbedVault, ProbeError, probeVault } from './probe.js'
export {
  findBlockAt,
  type ObservedVault,
  readVaultStates,
  type VaultFigures,
  type VaultState,
} from './snapshots.js'
export {
  findNewestSnapshotBlock,
  listVaultsSnapshotAt,
  type NewSnapshot,
  recordSnapshots,
  removeSnapshotsAt,
  snapshotObservations,
} from './store.js'
export { decideByTrial, type TriedVault, tryVaults } from './trial.js'
