/**
 * Who holds how much of a vault, and which distributor sourced it. Reads `balances`, `balance_changes`, `lots`,
 * `lot_changes` and `requests`, which derivation writes; amounts are raw shares. Owns `vault_drift`, the job that compares
 * balances with the chain, and the operations that show how far everything is and what a wallet has requested.
 */
export { positionsOperations } from './operations.js'
export {
  type Balance,
  findBalanceAt,
  type Lot,
  listBalances,
  listLots,
  listOpenRequests,
  type OpenRequest,
} from './store.js'
export { loadState, recordPositions, recordRequests, rewindPositions } from './storePositions.js'
export {
  copyBalanceChanges,
  copyLotChanges,
  copyState,
  formatBalanceChanges,
  formatLotChanges,
  openRebuilt,
  type RebuiltPlace,
  removeDerived,
  replacePositions,
} from './storeRebuild.js'
export { findUsedSignatures, recordUsedSignatures } from './storeSignatures.js'
