/**
 * Examines an address: the kind of the vault, its tokens, its first block, and the results of a deposit and a redemption that are
 * tried without being sent. Owns no table: the catalogue stores the results of trials, and an operator the drafts.
 */
export { type Bounds, fewHalvings, findFirstBlocks } from './firstBlocks.js'
export { noOldStates, type ProbedToken, type ProbedVault, ProbeError, probeVault, probeVaults } from './probe.js'
export { decideByTrial, type Trial, tryVaults } from './trial.js'
