/**
 * Who holds how much of a vault, and which distributor sourced it. Reads `balances`, `balance_changes`, `lots`,
 * `lot_changes` and `requests`, which derivation writes; amounts are raw shares. Owns `vault_drift`, the job that compares
 * balances with the chain, and the operations that show how far everything is and what a wallet has requested.
 */
export { positionsOperations } from './operations.js'
export { reconcileBalances } from './reconcile.js'
export { type DistributorReportRow, reportDistributor } from './reportDistributor.js'
export {
  type Balance,
  findBalanceAt,
  type Lot,
  listBalances,
  listLots,
  listOpenRequests,
  type OpenRequest,
} from './store.js'
export { type ExportName, listExportColumns, streamExport } from './storeReport.js'
export { type ChainStatus, listChainStatus, listVaultStatus, type VaultStatus } from './storeStatus.js'
