import type { Queryable, Transaction } from '../../postgres/pool.js'

/** An order with the state that its organization was told of last. `told` is null before the first. */
export type ToldOrder = { id: string; told: string | null }

/** Submitted orders of which there is more to tell, the longest submitted first. Taken for this transaction. */
export async function takeUntold(tx: Transaction, limit: number): Promise<ToldOrder[]> {
  return tx<ToldOrder[]>`
    select id, told from swap_orders where submitted_at is not null and not told_all
    order by submitted_at limit ${limit} for no key update skip locked`
}

export async function recordTold(
  tx: Queryable,
  orders: readonly { id: string; told: string; isAll: boolean }[],
): Promise<void> {
  await tx`
    update swap_orders o set told = t.told, told_all = t.is_all
    from unnest(${orders.map(({ id }) => id)}::uuid[], ${orders.map(({ told }) => told)}::text[],
      ${orders.map(({ isAll }) => isAll)}::boolean[]) as t (id, told, is_all)
    where o.id = t.id`
}
