/**
 * The holdings and earnings of a wallet on all configured chains, each value counted once. Owns the operation that returns them,
 * the adapters that read positions in protocols, the cached responses, and `flows`: the projection that derives them from
 * confirmed blocks, and the earnings of a wallet that follow from them.
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
