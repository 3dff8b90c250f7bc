/**
 * USD price of a token at a time. Owns the table `price_observations`, which is append-only. In SQL the same door is the
 * function `price_at(chain_id, token, at)`: at most one row `(id, price_usd, source, observed_at)`.
 */
export { findPrice, findPrices, pegStart, recordPeg } from './prices.js'
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
