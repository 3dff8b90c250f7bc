/**
 * Actions: deposits and withdrawals as transactions ready to sign. Owns the table `actions` and the operations that
 * build; it sends nothing. What became of an action is found on the chain.
 */
export { operations as actionOperations } from './operations.js'
