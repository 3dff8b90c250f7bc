/**
 * The files of rewards: how one is written and read, how its amounts are counted again of its inputs, of the tables or of a
 * chain, how a row of files is judged, and how a root is
 * counted again before and after it is committed. Commands prove streams by it; the jobs write the files.
 */
export { openRoot, type RootClaim } from './countRoot.js'
export { countSafely, describeCounted, listClaims, storedSource, withNode } from './lookAtRoot.js'
export { proveReward, type Unproved } from './proveReward.js'
export { readRewards, recomputeFromTables } from './recompute.js'
export { type ChangedFact, decodeRewardFile, hashFile, RewardFileError, recomputeRewards } from './rewardFile.js'
export { type JudgedRewards, judgeRewards, type RewardFile, sortFiles } from './rewardProof.js'
export { follow, judgeReadings, type RootVerdict } from './rootVerdict.js'
