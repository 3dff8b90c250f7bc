/**
 * Who holds how much of a vault, and which distributor sourced it. Reads `balances`, `balance_changes`, `lots`,
 * `lot_changes` and `requests`, which derivation writes. Amounts are raw shares.
 */
export {
  type Balance,
  findBalanceAt,
  type Lot,
  listBalances,
  listLots,
  listOpenRequests,
  type OpenRequest,
} from './store.js'
