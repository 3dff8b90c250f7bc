/**
 * The history of vaults: TVL, share price, APR and APY over time, made of their snapshots when they are asked for. Owns no
 * tables.
 */
export { historyOperations } from './operations.js'
