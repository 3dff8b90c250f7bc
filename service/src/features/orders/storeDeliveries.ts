import type { Queryable } from '../../postgres/pool.js'
import type { Delivery } from './orderBook.js'
import type { SubmittedOrder } from './orderState.js'
import { findOrders } from './storeOrders.js'

/** An order that its order book does not have yet, and how often it was told of it. */
export type Undelivered = { order: SubmittedOrder; tries: number }

/** Orders to tell order books of now, the oldest first: submitted, not accepted, and still to be filled by the clock. */
export async function listUndelivered(db: Queryable, now: Date, limit: number): Promise<Undelivered[]> {
  const due = await db<{ id: string; tries: number }[]>`
    select o.id, coalesce(d.tries, 0) as tries
    from swap_orders o left join order_deliveries d on d.order_id = o.id
    where o.venue = 'cow' and o.expires_at >= ${now} and d.accepted_at is null
      and (d.next_at is null or d.next_at <= ${now})
    order by o.submitted_at, o.id limit ${limit}`
  const tries = new Map(due.map((row) => [row.id, row.tries]))
  const orders = await findOrders(db, [...tries.keys()])
  return orders.flatMap(({ submission, ...order }) =>
    submission ? [{ order: { ...order, submission }, tries: tries.get(order.id) ?? 0 }] : [],
  )
}

/** Records the result of a try. An accepted order stays accepted. */
export async function recordDelivery(
  db: Queryable,
  orderId: string,
  { at, nextAt, ...delivery }: Delivery & { at: Date; nextAt: Date },
): Promise<void> {
  const [acceptedAt, note] = delivery.accepted ? [at, null] : [null, delivery.note]
  await db`
    insert into order_deliveries (order_id, tries, accepted_at, next_at, note)
    values (${orderId}, 1, ${acceptedAt}, ${nextAt}, ${note})
    on conflict (order_id) do update set tries = order_deliveries.tries + 1, accepted_at = excluded.accepted_at,
      next_at = excluded.next_at, note = excluded.note
    where order_deliveries.accepted_at is null`
}

/** Why an order book has not taken an order; undefined where it has, or was not told yet. */
export async function findDeliveryNote(db: Queryable, orderId: string): Promise<string | undefined> {
  const rows = await db<{ note: string | null }[]>`select note from order_deliveries where order_id = ${orderId}`
  return rows[0]?.note ?? undefined
}
