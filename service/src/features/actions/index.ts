/**
 * Actions: deposits and withdrawals as transactions ready to sign. Owns the operations that build; plans keeps the
 * intents. It sends nothing. The status of an action is read from the chain.
 */
export { operations as actionOperations } from './operations.js'
