/**
 * Orders: swaps that are signed once and filled while the user is away. Owns `swap_orders`, `followed_settlements`,
 * `order_events` and `order_settlements`; the projection of what settlement contracts say of them, which alone decides what
 * became of an order; and the operation that takes a report of a swap. It believes no report: the chain decides.
 */
export { runOrderBook } from './jobOrderBook.js'
export { createOrderLook, type OrderJobContext, type OrderSettings } from './jobSettle.js'
export { operations as orderOperations } from './operations.js'
export { orders } from './projection.js'
export { findOrder, listOrders } from './storeOrders.js'
export { showOrder } from './swapOrder.js'
