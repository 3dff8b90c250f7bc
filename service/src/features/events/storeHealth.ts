import type { Queryable } from '../../postgres/pool.js'

/** The state of what is on its way to others. */
export type EventsHealth = {
  /** Events that have no position yet, and when the oldest of them was told. */
  unmoved: number
  unmovedSince: Date | null
  /** Webhooks that are enabled, fail, or were disabled by their failures. */
  enabled: number
  failing: number
  disabled: number
  /** Events in queues, those that were given up, and since when one that is due has waited for a process to try it. */
  queued: number
  dead: number
  overdueSince: Date | null
}

export async function findEventsHealth(db: Queryable, at: Date): Promise<EventsHealth> {
  const [row] = await db<EventsHealth[]>`
    select o.*, w.*, q.* from
      (select count(*) as unmoved, min(told_at) as "unmovedSince" from outbox) o,
      (select count(*) filter (where enabled) as enabled, count(*) filter (where enabled and failing > 0) as failing,
        count(*) filter (where not enabled and disabled_reason <> '') as disabled from webhooks) w,
      (select count(*) filter (where not q.is_dead) as queued, count(*) filter (where q.is_dead) as dead,
        min(greatest(q.run_at, q.leased_until)) filter (where w.enabled and w.failing = 0 and q.is_head
          and q.run_at <= ${at} and (q.leased_until is null or q.leased_until <= ${at})) as "overdueSince"
        from webhook_queue q join webhooks w on w.id = q.webhook_id) q`
  if (!row) throw new Error('the state of the events could not be read')
  return row
}
