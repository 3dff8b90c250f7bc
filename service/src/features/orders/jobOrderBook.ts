import type { Context } from '../../postgres/context.js'
import type { CatalogueContext } from '../catalogue/index.js'
import type { HttpApi } from '../plans/index.js'
import { type Delivery, postOrder } from './orderBook.js'
import { findSettlement } from './settlement.js'
import { listUndelivered, recordDelivery } from './storeDeliveries.js'

/** Orders told to order books in one run. */
const ordersMax = 20

/** The longest pause between two tries, in seconds. */
const pauseMaxSeconds = 60

/** Tells order books of the orders that were submitted, each until it has them or they expired. */
export async function runOrderBook(
  { db, clock, log, catalogue }: Context & CatalogueContext,
  bookAt: (url: string) => HttpApi,
): Promise<void> {
  for (const { order, tries } of await listUndelivered(db, clock.now(), ordersMax)) {
    const settings = catalogue.current().chains.get(order.chainId)
    const url = settings && findSettlement(settings)?.orderBook
    const delivery: Delivery = url
      ? await postOrder(bookAt(url), order)
      : { accepted: false, note: 'the chain names no order book' }
    const pause = Math.min(2 ** (tries + 1), pauseMaxSeconds)
    const nextAt = new Date(clock.now().getTime() + pause * 1_000)
    await recordDelivery(db, order.id, { ...delivery, at: clock.now(), nextAt })
    if (!delivery.accepted && tries === 0)
      log.warn({ orderId: order.id, chainId: order.chainId }, `an order book has not taken an order: ${delivery.note}`)
  }
}
