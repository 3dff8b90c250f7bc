/**
 * Orders: swaps that are signed once and filled while the user is away. Owns `swap_orders`, `followed_settlements`,
 * `order_events`, `order_attempts` and `order_deliveries`; the projection of what settlement contracts say of them, which alone decides what
 * became of an order; and the operation that takes a report of a swap. It believes no report: the chain decides.
 */
export { runOrderBook } from './jobOrderBook.js'
export { sweepUnsigned } from './jobUnsigned.js'
export { operations as orderOperations } from './operations.js'
export type { Order, OrderState, OrderStatus } from './orderState.js'
export { orders } from './projection.js'
export { findSettlement } from './settlement.js'
export { type AttemptOutcome, listOrderAttempts, recordAttempts } from './storeAttempts.js'
export { recordLook } from './storeLooks.js'
export { findOrder, listOrders, listStates, listSubmitted, stopOrder } from './storeOrders.js'
export { showOrder } from './swapOrder.js'
export { tellOrders } from './tellOrders.js'
