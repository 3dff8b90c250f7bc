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
