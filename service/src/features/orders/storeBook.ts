import { bool, instant, int4, numeric, texts, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows } from '../../postgres/table.js'

const settlementsTable = describeTable('order_settlements', {
  id: [uuid],
  orderId: [uuid],
  attempt: [int4],
  amountIn: [numeric],
  amountOut: [numeric],
  isOpen: [bool],
  touches: [texts],
  filledBefore: [numeric],
  createdAt: [instant],
})

/** The settlements of an order that were queued, how many there were, and the one that is open. */
export type Attempts = { ids: readonly string[]; count: number; open: OpenSettlement | undefined }

/** `touches`: what it will change, once it is mined; `filledBefore`: how much of the order was filled when it was queued. */
export type OpenSettlement = { id: string; touches: readonly string[]; filledBefore: bigint }

export async function listAttempts(db: Queryable, orderIds: readonly string[]): Promise<ReadonlyMap<string, Attempts>> {
  const keys = orderIds.map((orderId) => ({ orderId }))
  const attempts = new Map<string, Attempts>()
  for (const { orderId, attempt, isOpen, ...row } of await findRows(db, settlementsTable, ['orderId'], keys)) {
    const { id, touches, filledBefore } = row
    const before = attempts.get(orderId)
    const count = Math.max(before?.count ?? 0, attempt)
    const open = isOpen ? { id, touches, filledBefore } : before?.open
    attempts.set(orderId, { ids: [...(before?.ids ?? []), id], count, open })
  }
  return attempts
}

/** Keeps a settlement; false where another one of the order is open, or has its number. */
export async function recordSettlement(
  tx: Transaction,
  settlement: OpenSettlement & {
    orderId: string
    attempt: number
    amountIn: bigint
    amountOut: bigint
    createdAt: Date
  },
): Promise<boolean> {
  const added = await insertRows(tx, settlementsTable, [{ ...settlement, isOpen: true }], { conflict: 'do nothing' })
  return added > 0
}

export async function closeSettlements(db: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db`update order_settlements set is_open = false where id = any(${[...ids]}::uuid[])`
}

/** Open settlements of a chain's orders. */
export async function listOpen(db: Queryable, chainId: number): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select s.id from order_settlements s join swap_orders o on o.id = s.order_id
    where s.is_open and o.chain_id = ${chainId} order by s.created_at, s.id`
  return rows.map(({ id }) => id)
}

/** An order whose owner has too little of what it sells, or lets too little be taken. */
export type Lack = { orderId: string; why: string }

const looksMin = 3
const lackSeconds = 60

/**
 * Counts a look at orders at a chain's time (unix seconds): of those that lack something, and of those that do not any
 * more. What has lacked it in three looks over a minute fails; `canFail` are the orders of which nothing is filled.
 */
export async function recordLook(
  db: Queryable,
  look: { lacking: readonly (Lack & { canFail: boolean })[]; fit: readonly string[]; timestamp: number; at: Date },
): Promise<string[]> {
  const { lacking, fit, timestamp, at } = look
  if (fit.length > 0)
    await db`
      update swap_orders set lacking_since = null, lacking_looks = 0
      where id = any(${[...fit]}::uuid[]) and lacking_looks > 0`
  if (lacking.length === 0) return []
  const failed = await db<{ id: string; failed: boolean }[]>`
    update swap_orders o set lacking_since = coalesce(o.lacking_since, to_timestamp(${timestamp})),
      lacking_looks = o.lacking_looks + 1,
      failed_at = case when l.fails then ${at}::timestamptz end, failure = case when l.fails then l.why end
    from (
      select k.id, k.why, k.can_fail and w.lacking_looks + 1 >= ${looksMin}
        and w.lacking_since <= to_timestamp(${timestamp - lackSeconds}) as fails
      from unnest(${lacking.map(({ orderId }) => orderId)}::uuid[], ${lacking.map(({ why }) => why)}::text[],
        ${lacking.map(({ canFail }) => canFail)}::boolean[]) as k (id, why, can_fail)
      join swap_orders w on w.id = k.id) l
    where o.id = l.id and o.failed_at is null returning o.id, o.failed_at is not null as failed`
  return failed.filter((row) => row.failed).map(({ id }) => id)
}
