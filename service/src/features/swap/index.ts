/**
 * Swaps: the ways to swap one token for another, of one shape (`provider.ts`), and the operations that list what can be
 * swapped and build a swap, ready to sign. Owns no table; plans keeps the intents. It sends nothing.
 */
export { readFreshHead } from './freshHead.js'
export { operations as swapOperations } from './operations.js'
export { listQuotes, type Quote, type SwapAsk, UnfitQuote, useBestQuote } from './provider.js'
export { findSwapChain, getSwapChain, listHubs, type SwapChain } from './providers.js'
export { quoteSwap } from './quoteSwap.js'
export {
  assertDecoded,
  assertGot,
  assertSwapped,
  buildSwapSteps,
  computeMinimum,
  type SwapSteps,
} from './swapSteps.js'
export {
  assertDifferent,
  type Funds,
  findSwapPrices,
  isNative,
  parseToken,
  readFunds,
  readSwapToken,
} from './swapTokens.js'
export { type Deployed, type RouteAsk, readExchanges, readLargest } from './uniswap.js'
