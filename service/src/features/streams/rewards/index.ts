/**
 * The files of rewards: how one is written and read, how its amounts are counted again of its inputs, of the tables or of a
 * chain, and how a row of files is judged. Commands prove streams by it; the jobs write the files.
 */
export { proveReward, type Unproved } from './proveReward.js'
export { readRewards, recomputeFromTables } from './recompute.js'
export { decodeRewardFile, hashFile, RewardFileError, recomputeRewards } from './rewardFile.js'
export { type JudgedRewards, judgeRewards, type RewardFile, sortFiles } from './rewardProof.js'
