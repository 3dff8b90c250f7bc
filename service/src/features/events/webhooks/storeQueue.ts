import type { Queryable, Transaction } from '../../../postgres/pool.js'
import type { SecretRow } from './storeWebhooks.js'

/** Events of the feed that are looked at for one webhook at once. */
const fedMax = 2_000

/**
 * Puts the events that are new in the feed into the queues of the enabled webhooks that want them. Returns whether there may be
 * more. Any number of processes may do so: each takes webhooks that no other has.
 */
export async function feedQueues(tx: Transaction, at: Date): Promise<boolean> {
  // The locks first: what is read afterwards is as the last change of a queue has left it.
  const taken = await tx<{ id: string; after: number; upto: number; last: number }[]>`
    select w.id, w.position as after, least(e.position, w.position + ${fedMax}) as upto, e.position as last
    from webhooks w, feed_end e where w.enabled and w.position < e.position for update of w skip locked`
  if (taken.length === 0) return false
  const webhooks = tx`
    unnest(${taken.map(({ id }) => id)}::uuid[], ${taken.map(({ after }) => after)}::bigint[],
      ${taken.map(({ upto }) => upto)}::bigint[]) as t (id, after, upto)`
  await tx`
    insert into webhook_queue (webhook_id, position, event_id, subject, is_head, is_replay, run_at)
    select w.id, f.position, f.event_id, f.subject_kind || ':' || f.subject_id,
      row_number() over (partition by w.id, f.subject_kind, f.subject_id order by f.position) = 1 and not exists (
        select from webhook_queue q where q.webhook_id = w.id and q.subject = f.subject_kind || ':' || f.subject_id
          and not q.is_dead),
      false, ${at}
    from ${webhooks} join webhooks w on w.id = t.id join feed f on f.position > t.after and f.position <= t.upto
    where (f.organization_id is null or f.organization_id = w.organization_id)
      and (cardinality(w.types) = 0 or f.type = any(w.types)) and (w.late or not f.late)
    on conflict (webhook_id, position) do nothing`
  await tx`update webhooks w set position = t.upto from ${webhooks} where w.id = t.id`
  return taken.some(({ upto, last }) => upto < last)
}

const inFlightMax = 50
const perSecondMax = 100
/** Events in flight to a receiver that fails. */
const failingMax = 5

/** The tries that a webhook `w` may begin in a second: its limits hold for all processes together. */
const roomOf = (db: Queryable, at: Date) => db`
  select greatest(0, least(m.most - f.flying,
      ${perSecondMax}::int - case when w.second = ${secondOf(at)}::bigint then w.tries else 0 end)) as room,
    m.most / 2 - f.replays as replay_room
  from (select case when w.failing > 0 then ${failingMax}::int else ${inFlightMax}::int end as most) m,
    (select count(*) as flying, count(*) filter (where is_replay) as replays from webhook_queue
      where webhook_id = w.id and leased_until > ${at}) f`

const secondOf = (at: Date) => Math.floor(at.getTime() / 1000)

/** Events of a webhook `w` that may be tried. */
const dueOf = (db: Queryable, at: Date) => db`
  webhook_queue q where q.webhook_id = w.id and q.is_head and q.run_at <= ${at}
    and (q.leased_until is null or q.leased_until <= ${at})`

/** Webhooks with events that are due, and room for a try. */
export async function listDue(db: Queryable, at: Date): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select w.id from webhooks w, lateral (${roomOf(db, at)}) r
    where w.enabled and r.room > 0 and exists (select from ${dueOf(db, at)})`
  return rows.map(({ id }) => id)
}

/** An event on its way: its row in the feed is read at the same time. */
export type Leased = { position: number; eventId: string; subject: string; attempt: number; at: Date }

export type Lease = { webhook: SecretRow; events: Leased[] }

/**
 * Takes events of some webhooks that are due, and counts the tries: as many as their limits leave. A webhook that another
 * process is taking events of is left to it.
 */
export async function leaseEvents(
  tx: Transaction,
  { ids, at, until }: { ids: readonly string[]; at: Date; until: Date },
): Promise<Lease[]> {
  // The locks first: what is read afterwards is as the last change of a queue has left it.
  const webhooks = await tx<SecretRow[]>`
    select id, organization_id as "organizationId", url, types, late, enabled, disabled_reason as "disabledReason",
      created_at as "createdAt", last_delivery_at as "lastDeliveryAt", failing, secret, secret_before as "secretBefore",
      before_until as "beforeUntil"
    from webhooks where id = any(${[...ids]}::uuid[]) and enabled for update skip locked`
  const own = (isReplay: boolean) => tx`
    select q.position, q.is_replay from ${dueOf(tx, at)} and q.is_replay = ${isReplay} order by q.run_at, q.position`
  const taken = await tx<(Leased & { id: string })[]>`
    with room as (select w.id, r.* from webhooks w, lateral (${roomOf(tx, at)}) r
      where w.id = any(${webhooks.map(({ id }) => id)}::uuid[])),
    news as (select w.id, n.* from room w, lateral (${own(false)} limit w.room) n),
    replays as (select w.id, n.* from room w, lateral (${own(true)}
      limit greatest(0, least(w.room - (select count(*) from news where news.id = w.id), w.replay_room, w.room / 2))) n)
    update webhook_queue q set leased_until = ${until}, attempt = attempt + 1
    from (select * from news union all select * from replays) t where q.webhook_id = t.id and q.position = t.position
    returning q.webhook_id as id, q.position, q.event_id as "eventId", q.subject, q.attempt, ${at}::timestamptz as at`
  const second = secondOf(at)
  await tx`
    update webhooks w set second = ${second}::bigint, tries = t.tries + case when w.second = ${second}::bigint then w.tries else 0 end
    from (select id, count(*)::int as tries from unnest(${taken.map(({ id }) => id)}::uuid[]) as each (id) group by id) t
    where w.id = t.id`
  return webhooks.map((webhook) => ({ webhook, events: taken.filter(({ id }) => id === webhook.id) }))
}

/** Makes the oldest waiting event of a subject the one that is tried next. */
const promote = (tx: Transaction, { id, subject, at }: { id: string; subject: string; at: Date }) => tx`
  update webhook_queue set is_head = true, run_at = least(run_at, ${at})
  where webhook_id = ${id} and position = (
    select position from webhook_queue where webhook_id = ${id} and subject = ${subject} and not is_dead
    order by position limit 1)`

/** Ends a try that the receiver took. Another process may have taken the event over: then nothing is left to end. */
export async function endDelivered(tx: Transaction, { id, event, at }: { id: string; event: Leased; at: Date }) {
  await tx`
    update webhooks set last_delivery_at = ${at}, failing = 0, failing_since = null where id = ${id}`
  const { count } = await tx`
    delete from webhook_queue where webhook_id = ${id} and position = ${event.position} and attempt = ${event.attempt}`
  if (count > 0) await promote(tx, { id, subject: event.subject, at })
}

/**
 * Ends a try that failed: the next one is at `nextAt`; null gives the event up. Returns how many tries failed in a row, and
 * since when; undefined if the webhook is gone or disabled already.
 */
export async function endFailed(
  tx: Transaction,
  { id, event, at, nextAt }: { id: string; event: Leased; at: Date; nextAt: Date | null },
): Promise<{ failing: number; since: Date } | undefined> {
  const [row] = await tx<{ failing: number; since: Date; enabled: boolean }[]>`
    update webhooks set failing = failing + 1, failing_since = coalesce(failing_since, ${at})
    where id = ${id} returning failing, failing_since as since, enabled`
  const { count } = await tx`
    update webhook_queue set leased_until = null, run_at = ${nextAt ?? at}, is_dead = ${nextAt === null},
      is_head = ${nextAt !== null}
    where webhook_id = ${id} and position = ${event.position} and attempt = ${event.attempt}`
  if (count > 0 && nextAt === null) await promote(tx, { id, subject: event.subject, at })
  return row?.enabled ? row : undefined
}

/** Removes an event that is no longer in the feed from a queue. */
export async function endPruned(tx: Transaction, { id, event, at }: { id: string; event: Leased; at: Date }) {
  await tx`select from webhooks where id = ${id} for update`
  await tx`delete from webhook_queue where webhook_id = ${id} and position = ${event.position}`
  await promote(tx, { id, subject: event.subject, at })
}

/** Disables a webhook with a reason. False if it was disabled before. */
export async function disableWebhook(
  tx: Transaction,
  { id, reason }: { id: string; reason: string },
): Promise<boolean> {
  const { count } = await tx`
    update webhooks set enabled = false, disabled_reason = ${reason} where id = ${id} and enabled`
  return count > 0
}

/** Puts events after a position, up to what the webhook was fed, into its queue again. Returns how many. */
export async function replayEvents(
  tx: Transaction,
  { id, after, at }: { id: string; after: number; at: Date },
): Promise<number> {
  // Its row first, as every other change of the queue does.
  const [webhook] = await tx<{ position: number }[]>`select position from webhooks where id = ${id} for update`
  if (!webhook) return 0
  const { count } = await tx`
    insert into webhook_queue (webhook_id, position, event_id, subject, is_head, is_replay, run_at)
    select w.id, f.position, f.event_id, f.subject_kind || ':' || f.subject_id, false, true, ${at}
    from webhooks w join feed f on f.position > ${after} and f.position <= w.position
    where w.id = ${id} and (f.organization_id is null or f.organization_id = w.organization_id)
      and (cardinality(w.types) = 0 or f.type = any(w.types)) and (w.late or not f.late)
    on conflict (webhook_id, position) do update set is_dead = false, is_replay = true, attempt = 0, run_at = excluded.run_at
      where webhook_queue.is_dead`
  // A subject's oldest event is tried first, and no other of it: one on its way stays where it is.
  await tx`
    update webhook_queue q set is_head = (q.position = h.position or q.leased_until is not null)
    from (select subject, coalesce(min(position) filter (where leased_until is not null), min(position)) as position
      from webhook_queue where webhook_id = ${id} and not is_dead group by subject) h
    where q.webhook_id = ${id} and q.subject = h.subject and not q.is_dead
      and q.is_head is distinct from (q.position = h.position or q.leased_until is not null)`
  return count
}
