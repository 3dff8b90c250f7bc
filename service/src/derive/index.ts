/**
 * From blocks to rows: frames, matching, credits, lots, rows. All of it is pure. The pipeline runs it live, and a rebuild
 * runs it over the raw store. Positions and ledger own the tables that the rows go to.
 */
export { type DeriveConfig, type DeriveVault, hasAsyncDeposit, hasAsyncRedeem } from './config.js'
export { oneNodesWord, signatureUsed } from './credits.js'
export { createDerivation, type Derivation, derive, listKeepers } from './derive.js'
export { vaultTopics } from './events.js'
export { openFastRecover } from './fastRecover.js'
export { isPlain } from './plain.js'
export { type DerivedRows, type DeriveState, emptyState } from './rows.js'
export type { ReadBlock, RequestReading } from './settled.js'
export { tradeTopic } from './settlements.js'
