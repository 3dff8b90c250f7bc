export { findBlockAt } from './blockAt.js'
export { type EmittingVault, eventParties, type VaultEvent } from './events.js'
export { type Bounds, fewHalvings, findFirstBlocks } from './firstBlocks.js'
export {
  changeGrowth,
  decideGrowth,
  type GrowthSource,
  type GrowthSourceName,
  type GrowthSpan,
  growthSourceNames,
  toGrowthSpans,
} from './growth.js'
export { isWithheld, type Withheld } from './identity.js'
export { runFeedHistory, runHistory } from './jobHistory.js'
export { pastSeconds, runSnapshots } from './jobSnapshots.js'
export {
  type Alternative,
  type Cooling,
  type DepositAsk,
  listEvents,
  type ObservedVault,
  type Offer,
  type PlannedKind,
  type RequestAsk,
  type RequestOffer,
  type Sentence,
  toVault,
  type Vault,
  type VaultCall,
  type VaultFigures,
  type VaultKind,
  type WithdrawAsk,
  type WithdrawOffer,
  type Words,
} from './kind.js'
export { requestTopics, viewRequest } from './kinds/asyncRequests.js'
export { findVaultKind, listErrors, vaultKinds } from './kinds.js'
export {
  decodeVaultEvent,
  findMakingCall,
  holdsForOthers,
  isVaultAddress,
  keepsNothing,
  listNonHolders,
  listOwnAddresses,
  listVaultAddresses,
  vaultTopics,
} from './logs.js'
export { noOldStates, type ProbedToken, type ProbedVault, ProbeError, probeVault, probeVaults } from './probe.js'
export { listRouterErrors, throughRouter } from './router.js'
export {
  readVaultStates,
  type VaultState,
} from './snapshots.js'
export { fillSnapshotPrices, type NewSnapshot, recordSnapshots, snapshotObservations } from './store.js'
export { type HistoryProgress, listHistoryProgress } from './storeGaps.js'
export { changeGrowthSources, findVaultSettings, pauseVault, resumeVault } from './storeHistory.js'
export { listDisagreements, listWithheld } from './storeIdentities.js'
export {
  findSeriesHead,
  listReadingsAt,
  listSeriesHeads,
  readDense,
  readSparse,
  type SeriesAsk,
  type SeriesHead,
} from './storeSeries.js'
export { findStreamTarget, isPastAwaited, listValueSteps, type StreamTarget, type ValueStep } from './storeTargets.js'
export { ensureTokenVault, listAssets } from './storeVaults.js'
export { decideByTrial, type Trial, type TriedVault, tryVaults } from './trial.js'
export { findWithholding, retryAfterSeconds, type SeriesState, type Withholding } from './withholding.js'
