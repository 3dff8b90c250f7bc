/**
 * How far chains and vaults are indexed, and whether balances are what the chain says. Owns `vault_drift` and the job
 * that writes it.
 */
export { chainState, describeCut } from './getIndexingStatus.js'
export { statusOperations } from './operations.js'
export { reconcileBalances } from './reconcile.js'
export { listGaps, listInvalidIndexes, listMissingIndexes } from './storeDoctor.js'
export { type ChainStatus, listChainStatus, listVaultStatus, type VaultStatus } from './storeStatus.js'
export { tellChains, tellVaults } from './tellStatus.js'
