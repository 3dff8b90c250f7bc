/** USD price of a token at a time. Owns the table `price_observations`, which is append-only. */
export { findPrice, findPrices, pegStart, recordPeg } from './prices.js'
export { type NewObservation, type PriceObservation, recordObservation, type TokenKey } from './store.js'
