import type { Queryable } from '../../kernel/database.js'
import type { Allowance, Used, Windows } from './budget.js'

type UsedRow = { hourAt: Date; hourUsed: number; monthAt: Date; monthUsed: number }

/**
 * Charges units to the hour and the month in one statement; undefined, and nothing charged, when they fit into one of
 * them no more. A process whose clock is behind charges the window the row is in already, so windows never move back.
 */
export async function chargeUnits(
  db: Queryable,
  { keyId, hourlyUnits, monthlyUnits }: Allowance,
  { hourAt, monthAt }: Windows,
  units: number,
): Promise<Used | undefined> {
  const rows = await db<UsedRow[]>`
    insert into budgets as b (key_id, hour_at, hour_used, month_at, month_used)
    select ${keyId}::uuid, ${hourAt}::timestamptz, ${units}::bigint, ${monthAt}::timestamptz, ${units}::bigint
    where ${units}::bigint <= least(${hourlyUnits}::bigint, ${monthlyUnits}::bigint)
    on conflict (key_id) do update set
      hour_at = greatest(b.hour_at, excluded.hour_at),
      hour_used = case when b.hour_at >= excluded.hour_at then b.hour_used else 0 end + excluded.hour_used,
      month_at = greatest(b.month_at, excluded.month_at),
      month_used = case when b.month_at >= excluded.month_at then b.month_used else 0 end + excluded.month_used
    where case when b.hour_at >= excluded.hour_at then b.hour_used else 0 end + excluded.hour_used
        <= ${hourlyUnits}::bigint
      and (${monthlyUnits}::bigint is null
        or case when b.month_at >= excluded.month_at then b.month_used else 0 end + excluded.month_used
          <= ${monthlyUnits}::bigint)
    returning hour_at as "hourAt", hour_used as "hourUsed", month_at as "monthAt", month_used as "monthUsed"`
  return rows[0]
}

/** What a key has used of these windows, or of later ones another process has begun. */
export async function findUsed(db: Queryable, keyId: string, { hourAt, monthAt }: Windows): Promise<Used> {
  const rows = await db<UsedRow[]>`
    select greatest(hour_at, ${hourAt}) as "hourAt", case when hour_at >= ${hourAt} then hour_used else 0 end as "hourUsed",
      greatest(month_at, ${monthAt}) as "monthAt",
      case when month_at >= ${monthAt} then month_used else 0 end as "monthUsed"
    from budgets where key_id = ${keyId}`
  return rows[0] ?? { hourAt, monthAt, hourUsed: 0, monthUsed: 0 }
}
