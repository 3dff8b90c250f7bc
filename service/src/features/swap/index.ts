/**
 * Swaps: the ways to swap one token for another, of one shape (`provider.ts`), and the operations that list what can be
 * swapped and build a swap, ready to sign. Owns no table; plans keeps the intents. It sends nothing.
 */
export { operations as swapOperations } from './operations.js'
