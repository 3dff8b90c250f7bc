/**
 * Solver: looks at the open orders of our own order book at each new block, and queues a settlement of those that the
 * exchanges pay enough for. Owns `order_settlements` and `settlement_failures`. It pays gas for strangers: `guard.ts` limits how
 * much, and for whom. Orders and their states belong to the slice `orders`.
 */
export { type SolverLimits, type TokenRule, tokenRules, usualLimits } from './guard.js'
export { createOrderLook } from './jobSettle.js'
export type { OrderJobContext, OrderSettings } from './look.js'
export { listSettlements } from './storeBook.js'
export type { WalletCode } from './wallets.js'
