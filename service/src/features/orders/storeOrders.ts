import { bool, hex, instant, int8, nullable, numeric, oneOf, text, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows, parseRows, type RowOf, selectList } from '../../postgres/table.js'
import { findDepth } from '../../sync/storeDepths.js'
import { sourcesOf } from '../../sync/storeSources.js'
import {
  type Confirmed,
  computeState,
  type Order,
  type OrderScheme,
  type OrderState,
  type OrderSubmission,
  type OrderVenue,
} from './orderState.js'
import { listEventsOf } from './storeEvents.js'

const ordersTable = describeTable('swap_orders', {
  id: [uuid],
  organizationId: [uuid],
  distributorId: [text],
  opportunityId: [nullable(uuid)],
  chainId: [int8],
  settlement: [text],
  relayer: [text],
  uid: [hex],
  owner: [text],
  tokenIn: [text],
  tokenOut: [text],
  amountIn: [numeric],
  minAmountOut: [numeric],
  partiallyFillable: [bool],
  appData: [text],
  appDataHash: [hex],
  expiresAt: [instant],
  createdAt: [instant],
  signature: [nullable(hex)],
  scheme: [nullable(oneOf<OrderScheme>())],
  venue: [nullable(oneOf<OrderVenue>())],
  submittedAt: [nullable(instant)],
  failedAt: [nullable(instant)],
  failure: [nullable(text)],
})

type OrderRow = RowOf<typeof ordersTable>

function toOrder({ signature, scheme, venue, submittedAt, ...row }: OrderRow): Order {
  const isSubmitted = signature !== null && scheme !== null && venue !== null && submittedAt !== null
  return { ...row, submission: isSubmitted ? { signature, scheme, venue, submittedAt } : undefined }
}

/** An order as it is built: nobody has signed it. */
export type NewOrder = Omit<Order, 'submission' | 'failedAt' | 'failure'>

/** Events of a settlement contract are read from so far below the head that was seen: a reorganisation may go below it. */
const marginBlocks = 256

/**
 * Keeps an order that is built. From the first order of a settlement contract on its events are read; `headNumber` is a
 * head of the chain that was seen before.
 */
export async function recordOrder(tx: Transaction, order: NewOrder, headNumber: number): Promise<void> {
  const absent = { signature: null, scheme: null, venue: null, submittedAt: null, failedAt: null, failure: null }
  await insertRows(tx, ordersTable, [{ ...order, ...absent }])
  await tx`
    insert into followed_settlements (chain_id, address, from_block)
    values (${order.chainId}, ${order.settlement}, ${Math.max(0, headNumber - marginBlocks)})
    on conflict do nothing`
}

export async function findOrder(db: Queryable, id: string): Promise<Order | undefined> {
  const [row] = await findRows(db, ordersTable, ['id'], [{ id }])
  return row && toOrder(row)
}

/** The orders of these ids, the oldest first. */
export async function findOrders(db: Queryable, ids: readonly string[]): Promise<Order[]> {
  if (ids.length === 0) return []
  const rows = await db<object[]>`
    select ${selectList(db, ordersTable)} from swap_orders where id = any(${[...ids]}::uuid[]) order by created_at, id`
  return parseRows(ordersTable, rows).map(toOrder)
}

/**
 * Keeps the signature of an order that has none. `same` where it has this one already, `other` where it has another:
 * then nothing changes.
 */
export async function submitOrder(
  tx: Transaction,
  id: string,
  { signature, scheme, venue, submittedAt }: OrderSubmission,
): Promise<'submitted' | 'same' | 'other'> {
  const taken = await tx`
    update swap_orders set signature = hex_bytes(${signature}), scheme = ${scheme}, venue = ${venue},
      submitted_at = ${submittedAt}
    where id = ${id} and submitted_at is null returning id`
  if (taken.length > 0) return 'submitted'
  const same = await tx`select from swap_orders where id = ${id} and signature = hex_bytes(${signature})`
  return same.length > 0 ? 'same' : 'other'
}

/** The newest orders first, of an organization or a chain. */
export async function listOrders(
  db: Queryable,
  filter: { organizationId?: string | undefined; chainId?: number | undefined; limit: number },
): Promise<Order[]> {
  const { organizationId = null, chainId = null, limit } = filter
  const rows = await db<object[]>`
    select ${selectList(db, ordersTable)} from swap_orders
    where (${organizationId}::uuid is null or organization_id = ${organizationId}::uuid)
      and (${chainId}::bigint is null or chain_id = ${chainId}::bigint)
    order by created_at desc, id limit ${limit}`
  return parseRows(ordersTable, rows).map(toOrder)
}

/**
 * Orders of a settlement contract of a chain that were submitted, that we have not stopped to look at, and whose last second
 * has not passed by the chain's time (unix seconds).
 */
export async function listSubmitted(
  db: Queryable,
  { chainId, settlement, timestamp }: { chainId: number; settlement: string; timestamp: number },
): Promise<Order[]> {
  const rows = await db<object[]>`
    select ${selectList(db, ordersTable)} from swap_orders
    where chain_id = ${chainId} and expires_at >= to_timestamp(${timestamp}) and submitted_at is not null
      and failed_at is null and settlement = ${settlement}
    order by submitted_at, id`
  return parseRows(ordersTable, rows).map(toOrder)
}

/**
 * Stops to look at an order that was submitted, for a reason: it is not settled here any more. False where nobody submitted
 * it, or it was stopped before.
 */
export async function stopOrder(db: Queryable, id: string, stopped: { at: Date; why: string }): Promise<boolean> {
  const rows = await db`
    update swap_orders set failed_at = ${stopped.at}, failure = ${stopped.why}
    where id = ${id} and submitted_at is not null and failed_at is null returning id`
  return rows.length > 0
}

/** Orders that one statement forgets. */
const removedMax = 10_000

/** Forgets orders that nobody submitted, that expired before an instant, and of which the chain says nothing. */
export async function removeUnsigned(db: Queryable, before: Date): Promise<number> {
  const rows = await db`
    delete from swap_orders where id in (
      select o.id from swap_orders o
      where o.submitted_at is null and o.expires_at < ${before}
        and not exists (select from order_events e where e.order_id = o.id)
      order by o.expires_at limit ${removedMax})
    and submitted_at is null returning id`
  return rows.length
}

/**
 * The last confirmed block of a chain up to which the events of a settlement contract are known; null: no block.
 */
async function findConfirmed(
  db: Queryable,
  { chainId, settlement }: Pick<Order, 'chainId' | 'settlement'>,
): Promise<Confirmed> {
  const [read, depth] = await Promise.all([
    db`select from ${sourcesOf(db)} r
      where chain_id = ${chainId} and projection = 'orders' and source = ${settlement} and synced`,
    findDepth(db, chainId),
  ])
  return read.length > 0 && depth?.confirmedAt ? { blockNumber: depth.confirmed, at: depth.confirmedAt } : null
}

/** States of orders by what is confirmed of their events, in the order of the input. */
export async function listConfirmedStates(db: Queryable, orders: readonly Order[]): Promise<OrderState[]> {
  const confirmed = await readConfirmed(db, orders)
  const events = await listEventsOf(
    db,
    orders.map(({ id }) => id),
  )
  return orders.map((order) => {
    const depth = confirmed.get(keyOf(order)) ?? null
    const known = (events.get(order.id) ?? []).filter(({ blockNumber }) => blockNumber <= (depth?.blockNumber ?? -1))
    return computeState(order, known, depth)
  })
}

/** States of orders, in the order of the input. */
export async function listStates(db: Queryable, orders: readonly Order[]): Promise<OrderState[]> {
  const confirmed = await readConfirmed(db, orders)
  // Read after the depth: an order is not told expired by a block whose events are not seen.
  const ids = orders.map(({ id }) => id)
  const events = await listEventsOf(db, ids)
  return orders.map((order) => computeState(order, events.get(order.id) ?? [], confirmed.get(keyOf(order)) ?? null))
}

const keyOf = ({ chainId, settlement }: Order): string => `${chainId} ${settlement}`

async function readConfirmed(db: Queryable, orders: readonly Order[]): Promise<ReadonlyMap<string, Confirmed>> {
  const confirmed = new Map<string, Confirmed>()
  for (const order of orders)
    if (!confirmed.has(keyOf(order))) confirmed.set(keyOf(order), await findConfirmed(db, order))
  return confirmed
}
