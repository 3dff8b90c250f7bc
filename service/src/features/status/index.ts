/**
 * How far chains and vaults are indexed, whether balances are what the chain says, and who does the work that runs again and
 * again. Owns `vault_drift` with the job that writes it, and `jobs`.
 */

export { describeJobs } from './describeJobs.js'
export { chainState, describeCut, describeHolders } from './getIndexingStatus.js'
export { statusOperations } from './operations.js'
export { reconcileBalances } from './reconcile.js'
export { listGaps, listInvalidIndexes, listMissingIndexes } from './storeDoctor.js'
export { claimJobs, endJob, type JobHolder, listJobStatus, registerJobs } from './storeJobs.js'
export { type ChainStatus, listChainStatus, listVaultStatus, type VaultStatus } from './storeStatus.js'
export { tellChains, tellVaults } from './tellStatus.js'
