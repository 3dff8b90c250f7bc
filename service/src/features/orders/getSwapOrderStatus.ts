import type { Caller } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import type { SwapOrder } from './schema.js'
import { getOwnOrder, showOrder } from './swapOrder.js'

/** The state of an order, by the events of its settlement contract. */
export async function getSwapOrderStatus(
  { db }: Context,
  { orderId }: { orderId: string },
  caller: Caller,
): Promise<SwapOrder> {
  return showOrder(db, await getOwnOrder(db, orderId, caller))
}
