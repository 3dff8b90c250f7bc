/** USD price of a token at a time. Owns the table `price_observations`, which is append-only. */
export { findPrice, findPrices, type PriceObservation, pegStart, recordPeg, type TokenKey } from './prices.js'
export { type NewObservation, recordObservation } from './store.js'
