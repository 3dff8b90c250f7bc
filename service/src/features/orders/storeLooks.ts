import type { Queryable } from '../../postgres/pool.js'

/** An order whose owner has too little of what it sells, or lets too little be taken. */
export type Lack = { orderId: string; why: string }

const looksMin = 3
const lackSeconds = 60

/**
 * Counts a look at orders at a chain's time (unix seconds): orders that lack something, and orders that no longer do. An order
 * that lacked something in three looks over a minute fails; `canFail` are the orders without any fill.
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
