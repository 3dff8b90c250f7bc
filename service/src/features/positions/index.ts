/**
 * Who holds how much of a vault, and which distributor sourced it. Owns `balances`, `lots` and `requests` with their
 * `_changes`, `request_told`, `used_signatures`, `cut_moves`, `share_mints`, `holder_doubts` with the job that reads holders' views, the projections that derive them, and the operation that lists what a wallet has
 * requested. Amounts are raw shares.
 */

export { hasHolders, type KeptConfiguration, parseConfiguration, readConfiguration } from './keptConfiguration.js'
export { positionsOperations } from './operations.js'
export { positionsRows } from './positionsRows.js'
export { createPositions, type Positions } from './projection.js'
export { readLotSteps } from './readLots.js'
export { shareMints } from './shareMints.js'
export {
  listBalances,
  listLots,
  listOpenRequests,
  type OpenRequest,
} from './store.js'
export { doubtObservations } from './storeDoubts.js'
export { heldOf, holderStatesOf } from './storeHeld.js'
export { type KeptShares, listKept } from './storeKept.js'
export { shareMintsOf } from './storeMints.js'
export { type LotShareStep, listLotSteps, listShareSteps, type ShareStep, type StepsAsk } from './storeSteps.js'
export { type ClaimedRequest, listClaimedRequests } from './storeWalletRequests.js'
export { listTakenBack } from './takenBack.js'
export { tellRequests } from './tellRequests.js'
export { watchHolders } from './watchHolders.js'
