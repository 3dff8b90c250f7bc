/**
 * USD price of a token at a time. Owns the tokens and the table `price_observations`, which is append-only. In SQL the same
 * door is the function `price_at(chain_id, token, at)`: at most one row `(id, price_usd, source, observed_at)`.
 */
export { askFeed, type Feed, observeFeed } from './feeds.js'
export { readFeedHistory } from './jobFeeds.js'
export { fetchProvided } from './jobProvider.js'
export { fetchProvidedPast } from './jobProviderPast.js'
export { findPrice, findPrices, recordPeg, recordPegEnds } from './prices.js'
export { openProvider, type PriceProvider } from './providers.js'
export {
  type PriceObservation,
  ranks,
  recordObservation,
  recordObservations,
} from './store.js'
export {
  listFeeds,
  listShareObservations,
  listShareSources,
  listUnpricedAssets,
  priceObservations,
} from './storeSources.js'
export { listPriceSteps } from './storeSteps.js'
export { acceptSuspects, listSuspects, recordProvided } from './storeSuspects.js'
export { listTokenDecimals, listTokens, type TokenDecimals, tokensTable, writeTokens } from './storeTokens.js'
