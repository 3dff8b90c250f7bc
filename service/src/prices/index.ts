/**
 * USD price of a token at a time. Owns the tokens and the table `price_observations`, which is append-only. In SQL the same
 * door is the function `price_at(chain_id, token, at)`: at most one row `(id, price_usd, source, observed_at)`.
 */
export { askFeed, type Feed, type FeedAnswer, observeFeed } from './feeds.js'
export { readFeedHistory } from './jobFeeds.js'
export { fetchProvided } from './jobProvider.js'
export { fetchProvidedPast } from './jobProviderPast.js'
export { findPrice, findPrices, pegStart, recordPeg, recordPegEnds } from './prices.js'
export { openProvider, type PriceProvider, type ProviderSettings } from './providers.js'
export {
  listPricesAt,
  type NewObservation,
  type PriceAsk,
  type PriceObservation,
  ranks,
  recordObservation,
  recordObservations,
  type TokenKey,
} from './store.js'
export {
  listFeeds,
  listShareSources,
  listUnpricedAssets,
  priceObservations,
  type UnpricedToken,
} from './storeSources.js'
export { listPriceSteps, type ObservedStep } from './storeSteps.js'
export { acceptSuspects, listSuspects, recordProvided, type Suspect } from './storeSuspects.js'
