/**
 * Orders: what becomes of swaps that are followed one by one. Owns the operation that takes a report of one. It sends
 * nothing and believes nothing: the chain decides.
 */
export { operations as orderOperations } from './operations.js'
