/**
 * Solver: looks at the open orders of our own order book at each new block, and queues a settlement of those that the
 * exchanges pay enough for. Owns `order_settlements`. What an order is, and what became of it, is the slice `orders`'.
 */
export { createOrderLook, type OrderJobContext, type OrderSettings } from './jobSettle.js'
