/**
 * Snapshots of vaults on their grids. Owns the tables `vault_snapshots`, `snapshot_progress`, `snapshot_gaps` and
 * `vault_identities`, the jobs that take snapshots and read missed ones of the past, and the rules of their series: the growth
 * source, and the reason why a series is withheld.
 */
export { decideGrowth } from './growth.js'
export { isWithheld, type Withheld } from './identity.js'
export { runFeedHistory, runHistory } from './jobHistory.js'
export { pastSeconds, runSnapshots } from './jobSnapshots.js'
export { computeShareUsd } from './shares.js'
export { recordSnapshots, snapshotObservations, snapshotsOf } from './store.js'
export { listHistoryProgress, listOutstanding } from './storeGaps.js'
export { identitiesOf, listDisagreements, listWithheld, listWithheldTimes } from './storeIdentities.js'
export {
  findSeriesHead,
  listReadingsAt,
  listSeriesHeads,
  readDense,
  readSparse,
  type SeriesHead,
} from './storeSeries.js'
export { findStreamTarget, isPastAwaited, type StreamTarget } from './storeTargets.js'
export { findWithholding, retryAfterSeconds, type SeriesState, type Withholding } from './withholding.js'
