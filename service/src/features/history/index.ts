/**
 * The history of vaults: TVL, share price, APR and APY over time, made of their snapshots when they are asked for, and
 * the job that pushes their movements into the catalogue. Owns no tables.
 */
export { runMovements } from './jobs.js'
export { historyOperations } from './operations.js'
export { type Recomputed, type RecomputeWhat, recomputePoint } from './recompute.js'
