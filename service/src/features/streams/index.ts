/**
 * Reward streams: their terms, their rewards, and the proofs for claims. Owns `stream_points`, `streams`,
 * `stream_events`, `stream_operations` and the tables of snapshots and reward files; the operations that create, read and
 * administer streams; the projection of the events of factories and streams; the jobs that take snapshots and commit
 * roots, and the job that counts roots again and vetoes wrong ones.
 */
export { type CommittedReward, listCommittedRewards } from './committedRewards.js'
export type { StreamContext } from './context.js'
export { findNextInstant } from './instants.js'
export { runStreamCommits, runStreamTrees } from './jobCommits.js'
export { runRootWatch } from './jobRootWatch.js'
export { retakeSnapshot, runStreamSnapshots } from './jobSnapshots.js'
export { runStreamAprs, sweepUnsent } from './jobs.js'
export { listAwaiting } from './listAwaiting.js'
export { streamOperations } from './operations.js'
export { streams } from './projection.js'
export { compareRoles, findClaimsPause } from './roles.js'
export { recordPoint } from './storePoints.js'
export { listFiles } from './storeReadings.js'
export { listDoubtedRoots } from './storeRootReadings.js'
export { findRewardFile, listTaken, streamObservations } from './storeSnapshots.js'
export {
  findStream,
  listAllStreams,
  type PauseFlag,
  recordStream,
  updateEnd,
  updatePause,
} from './storeStreams.js'
export { tellStreams } from './tellStreams.js'
export { vetoSnapshot } from './veto.js'
