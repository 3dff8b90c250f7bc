/**
 * What a wallet holds and has earned, on all configured chains, each value counted once. Owns the operation that tells it,
 * the adapters that know how protocols keep what a wallet has in them, what is kept of answers, and `flows`: the projection
 * that derives them of confirmed blocks, and the earnings of a wallet that follow from them.
 */
export {
  type Adapter,
  type AdapterAnswer,
  type AdapterInput,
  type Amount,
  balanceCall,
  type Item,
  parseWord,
  type ShownToken,
} from './adapter.js'
export type { Portfolio, PortfolioContext } from './context.js'
export { type Earnings, listEarnings, type OpportunityEarning, type Sum } from './earnings.js'
export { getWalletPortfolio } from './getWalletPortfolio.js'
export { portfolioOperations } from './operations.js'
export { listAdapters, openPortfolio } from './portfolio.js'
export { flows } from './projection.js'
export type { PortfolioBody } from './schema.js'
