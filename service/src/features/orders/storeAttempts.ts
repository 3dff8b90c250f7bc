import { instant, int4, oneOf, text, uuid } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable, findRows } from '../../postgres/table.js'

export const attemptOutcomes = ['considered', 'tooDear', 'noRoute', 'unfunded', 'reverted', 'filled'] as const

export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** The outcome of an order at our solver, and since when. */
export type OrderAttempt = { at: Date; outcome: AttemptOutcome; detail: string }

const attemptsTable = describeTable('order_attempts', {
  orderId: [uuid],
  number: [int4],
  at: [instant],
  outcome: [oneOf<AttemptOutcome>()],
  detail: [text],
})

/** Attempts of an order that are kept. */
const attemptsMax = 20

/**
 * Keeps what was made of orders at a chain's time (unix seconds), of each where it is another outcome than the newest that is
 * kept, and of each the newest 20. Where the outcome is the same its detail is put in the place of the one before.
 */
export async function recordAttempts(
  db: Queryable,
  said: readonly { orderId: string; outcome: AttemptOutcome; detail: string }[],
  timestamp: number,
): Promise<void> {
  if (said.length === 0) return
  const added = await db<{ orderId: string; number: number }[]>`
    insert into order_attempts (order_id, number, at, outcome, detail)
    select s.order_id, coalesce(n.number, 0) + 1, to_timestamp(${timestamp}), s.outcome, s.detail
    from unnest(${said.map(({ orderId }) => orderId)}::uuid[], ${said.map(({ outcome }) => outcome)}::text[],
      ${said.map(({ detail }) => detail)}::text[]) as s (order_id, outcome, detail)
    left join lateral (
      select a.number, a.outcome from order_attempts a where a.order_id = s.order_id order by a.number desc limit 1
    ) n on true
    where n.outcome is distinct from s.outcome
    on conflict do nothing returning order_id as "orderId", number`
  await db`
    update order_attempts a set detail = s.detail
    from unnest(${said.map(({ orderId }) => orderId)}::uuid[], ${said.map(({ detail }) => detail)}::text[]) as s (order_id, detail)
    where a.order_id = s.order_id and a.detail <> s.detail
      and a.number = (select max(n.number) from order_attempts n where n.order_id = s.order_id)`
  const over = added.filter(({ number }) => number > attemptsMax)
  if (over.length === 0) return
  await db`
    delete from order_attempts a
    using unnest(${over.map(({ orderId }) => orderId)}::uuid[], ${over.map(({ number }) => number)}::int[]) as k (id, number)
    where a.order_id = k.id and a.number <= k.number - ${attemptsMax}`
}

/** Outcomes of an order, newest first. */
export async function listOrderAttempts(db: Queryable, orderId: string): Promise<OrderAttempt[]> {
  const rows = await findRows(db, attemptsTable, ['orderId'], [{ orderId }], { tail: 'order by r.number desc' })
  return rows.map(({ at, outcome, detail }) => ({ at, outcome, detail }))
}
