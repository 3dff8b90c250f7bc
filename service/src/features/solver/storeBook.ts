import { bool, instant, int4, int8, nullable, numeric, oneOf, text, texts, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, findRows, insertRows, type RowOf } from '../../postgres/table.js'
import type { Held, OutgoingState } from '../../rpc/sender/index.js'

/** How a settlement ended: mined as it should, mined and reverted, an empty transaction in its place, or never sent. */
export type SettlementOutcome = 'confirmed' | 'reverted' | 'cancelled' | 'failed'

const settlementsTable = describeTable('order_settlements', {
  id: [uuid],
  orderId: [uuid],
  chainId: [int8],
  owner: [text],
  organizationId: [uuid],
  attempt: [int4],
  amountIn: [numeric],
  amountOut: [numeric],
  isOpen: [bool],
  isRisky: [bool],
  isListed: [bool],
  costMax: [numeric],
  outcome: [nullable(oneOf<SettlementOutcome>())],
  cost: [nullable(numeric)],
  closedAt: [nullable(instant)],
  touches: [texts],
  filledBefore: [numeric],
  createdAt: [instant],
})

export type Settlement = RowOf<typeof settlementsTable>

/** The settlements of an order that were queued: how many there were, the one that is open, and when which ended how. */
export type Attempts = {
  count: number
  open: Settlement | undefined
  reverts: number
  /** When it was filled, by the chain's time in unix seconds. */
  fills: readonly number[]
}

export async function listAttempts(db: Queryable, orderIds: readonly string[]): Promise<ReadonlyMap<string, Attempts>> {
  const keys = orderIds.map((orderId) => ({ orderId }))
  const attempts = new Map<string, Attempts>()
  for (const row of await findRows(db, settlementsTable, ['orderId'], keys)) {
    const before = attempts.get(row.orderId) ?? { count: 0, open: undefined, reverts: 0, fills: [] }
    const isFill = row.outcome === 'confirmed' && row.closedAt !== null
    attempts.set(row.orderId, {
      count: Math.max(before.count, row.attempt),
      open: row.isOpen ? row : before.open,
      reverts: before.reverts + (row.outcome === 'reverted' ? 1 : 0),
      fills: isFill ? [...before.fills, (row.closedAt as Date).getTime() / 1_000] : before.fills,
    })
  }
  return attempts
}

/** Keeps a settlement; false where another one of the order is open, or has its number. */
export async function recordSettlement(
  tx: Transaction,
  settlement: Omit<Settlement, 'isOpen' | 'outcome' | 'cost' | 'closedAt'>,
): Promise<boolean> {
  const open = { ...settlement, isOpen: true, outcome: null, cost: null, closedAt: null }
  return (await insertRows(tx, settlementsTable, [open], { conflict: 'do nothing' })) > 0
}

/** A settlement that is over, why, where its sender said it, and whether that kept it from being sent. */
export type Closed = Settlement & { outcome: SettlementOutcome; reason: string | null; isHeld: boolean }

/**
 * Closes the settlements of a chain whose transaction is over, at a chain's time (unix seconds). A fill of listed tokens was
 * no risk.
 */
export async function closeSettlements(
  db: Queryable,
  { chainId, timestamp }: { chainId: number; timestamp: number },
): Promise<Closed[]> {
  const over = await db<{ id: string; reason: string | null; isHeld: boolean }[]>`
    update order_settlements s set is_open = false, outcome = o.state, cost = coalesce(o.cost, 0),
      closed_at = to_timestamp(${timestamp}), is_risky = s.is_risky and not (o.state = 'confirmed' and s.is_listed)
    from outgoing_transactions o
    where s.is_open and s.chain_id = ${chainId} and o.id = s.id and o.state not in ('queued', 'sent')
    returning s.id, o.reason, o.held is not null as "isHeld"`
  const reasons = new Map(over.map(({ id, ...why }) => [id, why]))
  const rows = await findRows(
    db,
    settlementsTable,
    ['id'],
    over.map(({ id }) => ({ id })),
  )
  return rows.flatMap((row) =>
    row.outcome === null ? [] : [{ reason: null, isHeld: false, ...reasons.get(row.id), ...row, outcome: row.outcome }],
  )
}

export type OpenSettlement = { id: string; createdAt: Date; isQueued: boolean }

/** Open settlements of a chain's orders, the oldest first. */
export async function listOpen(db: Queryable, chainId: number): Promise<OpenSettlement[]> {
  return db<OpenSettlement[]>`
    select s.id, s.created_at as "createdAt", o.state = 'queued' as "isQueued"
    from order_settlements s join outgoing_transactions o on o.id = s.id
    where s.is_open and s.chain_id = ${chainId} order by s.created_at, s.id`
}

/** A settlement, and the state of its transaction with why it waits or failed. Costs are in the smallest unit. */
export type SettlementStatus = {
  id: string
  orderId: string
  chainId: number
  owner: string
  attempt: number
  isOpen: boolean
  isRisky: boolean
  costMax: string
  cost: string | null
  outcome: SettlementOutcome | null
  state: OutgoingState | null
  held: Held | null
  reason: string | null
  createdAt: Date
  closedAt: Date | null
}

/** Settlements of all chains: those that are open, then the newest that are over. */
export async function listSettlements(db: Queryable, limit: number): Promise<SettlementStatus[]> {
  return db<SettlementStatus[]>`
    select s.id, s.order_id as "orderId", s.chain_id as "chainId", s.owner, s.attempt, s.is_open as "isOpen",
      s.is_risky as "isRisky", s.cost_max as "costMax", s.cost, s.outcome, o.state, o.held, o.reason,
      s.created_at as "createdAt", s.closed_at as "closedAt"
    from order_settlements s left join outgoing_transactions o on o.id = s.id
    order by s.is_open desc, s.created_at desc, s.id limit ${limit}`
}

/**
 * The settlements of a chain that count against somebody: risky ones that are open, or ended after an instant of the chain's
 * time, and those that reverted after it.
 */
export async function listCounted(db: Queryable, chainId: number, since: Date): Promise<Settlement[]> {
  const ids = await db<{ id: string }[]>`
    select id from order_settlements
    where chain_id = ${chainId} and (is_risky or outcome = 'reverted') and (closed_at is null or closed_at > ${since})`
  return findRows(db, settlementsTable, ['id'], ids)
}

/** Of these owners the ones of which a settlement reverted after an instant of the chain's time. */
export async function listReverted(
  db: Queryable,
  { chainId, since, owners }: { chainId: number; since: Date; owners: readonly string[] },
): Promise<ReadonlySet<string>> {
  const found = await db<{ owner: string }[]>`
    select distinct owner from order_settlements
    where chain_id = ${chainId} and closed_at > ${since} and outcome = 'reverted'
      and owner = any(${owners}::text[])`
  return new Set(found.map(({ owner }) => owner))
}

/** Of these owners the ones of which an order was filled after an instant of the chain's time. */
export async function listFilledOwners(
  db: Queryable,
  { chainId, since, owners }: { chainId: number; since: Date; owners: readonly string[] },
): Promise<ReadonlySet<string>> {
  const found = await db<{ owner: string }[]>`
    select distinct owner from order_settlements
    where chain_id = ${chainId} and closed_at > ${since} and outcome = 'confirmed' and owner = any(${owners}::text[])`
  return new Set(found.map(({ owner }) => owner))
}
