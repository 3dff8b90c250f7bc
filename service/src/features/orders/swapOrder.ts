import type { Hex } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { internal, notFound } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Queryable } from '../../postgres/pool.js'
import { formatAddress } from '../../wallets/format.js'
import type { Order, OrderState } from './orderState.js'
import type { SwapOrder } from './schema.js'
import { buildCancellation } from './sellOrder.js'
import { listOrderAttempts, type OrderAttempt } from './storeAttempts.js'
import { findDeliveryNote } from './storeDeliveries.js'
import { findOrder, listStates } from './storeOrders.js'

/** The order of an id, if it is of the caller's organization. */
export async function getOwnOrder(db: Queryable, id: string, { organizationId }: Caller): Promise<Order> {
  const order = await findOrder(db, id.toLowerCase())
  if (order?.organizationId !== organizationId) throw notFound('no such order')
  return order
}

/** An order as it stands now. Of one that waits for its order book it is told why. */
export async function showOrder(db: Queryable, order: Order): Promise<SwapOrder> {
  const [[state], attempts] = await Promise.all([listStates(db, [order]), listOrderAttempts(db, order.id)])
  if (!state) throw internal('an order has no state')
  const waits = order.submission?.venue === 'cow' && state.status === 'open'
  const error = state.error ?? (waits ? await findDeliveryNote(db, order.id) : undefined) ?? null
  return toSwapOrder(order, { ...state, error }, attempts)
}

function toSwapOrder(order: Order, state: OrderState, attempts: readonly OrderAttempt[]): SwapOrder {
  const { chainId, settlement } = order
  const orderUid = order.uid as Hex
  return {
    orderId: order.id,
    status: state.status,
    userAddress: formatAddress(order.owner),
    chainId,
    tokenIn: formatAddress(order.tokenIn),
    tokenOut: formatAddress(order.tokenOut),
    amountIn: String(order.amountIn),
    minAmountOut: String(order.minAmountOut),
    filledIn: String(state.filledIn),
    filledOut: String(state.filledOut),
    txHashes: [...state.transactionHashes],
    distributorId: order.distributorId,
    error: state.error,
    createdAt: formatTs(order.createdAt),
    updatedAt: formatTs(state.updatedAt),
    expiresAt: formatTs(order.expiresAt),
    orderUid,
    settlement: formatAddress(settlement),
    cancellation: buildCancellation({ chainId, settlement, orderUid }),
    attempts: attempts.map(({ at, ...attempt }) => ({ at: formatTs(at), ...attempt })),
  }
}
