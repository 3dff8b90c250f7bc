/**
 * What an address turns out to be: which kind of vault, of which tokens, from which block on, and what depositing and
 * redeeming do when they are tried without being sent. Owns no table: the catalogue keeps what was tried, and an operator
 * what was drafted.
 */
export { type Bounds, fewHalvings, findFirstBlocks } from './firstBlocks.js'
export { noOldStates, type ProbedToken, type ProbedVault, ProbeError, probeVault, probeVaults } from './probe.js'
export { decideByTrial, type Trial, tryVaults } from './trial.js'
