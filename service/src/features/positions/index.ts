/**
 * Who holds how much of a vault, and which distributor sourced it. Owns `balances`, `lots` and `requests` with their
 * `_changes`, and `used_signatures`; the pipeline writes them through this door. Amounts are raw shares. Owns the
 * operation that lists what a wallet has requested.
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
  openRebuilt,
  type RebuiltPlace,
  removeRequests,
  replacePositions,
} from './storeRebuild.js'
export { findUsedSignatures, recordUsedSignatures } from './storeSignatures.js'
export { type ClaimedRequest, listClaimedRequests } from './storeWalletRequests.js'
