/**
 * From blocks to rows: frames, attribution, positions, ledger. `derive` is pure; the pipeline runs it live, in the same
 * transaction as the raw store and the cursor, and a rebuild runs it over the raw store. Owns `balances`, `lots`,
 * `requests` with their `_changes`, `used_signatures`, `interactions`, `price_choices`, `retractions` and `watched` (written here, read
 * by the slices positions and ledger), and `watched_vaults`.
 */
export { type DeriveConfig, type DeriveVault, hasAsyncDeposit, hasAsyncRedeem } from './config.js'
export { signatureUsed } from './credits.js'
export { createDerivation, type Derivation, derive } from './derive.js'
export { vaultTopics } from './events.js'
export { type DerivedRows, type DeriveState, emptyState } from './rows.js'
