/**
 * Actions: deposits and withdrawals as transactions ready to sign. Owns the operations that build; plans keeps the
 * intents. It sends nothing. What became of an action is found on the chain.
 */
export { operations as actionOperations } from './operations.js'
