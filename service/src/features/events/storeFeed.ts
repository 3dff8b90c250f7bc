import type { Fragment, Queryable } from '../../postgres/pool.js'

export type FeedRow = {
  position: number
  eventId: string
  type: string
  at: Date
  chainId: number | null
  late: boolean
  subjectKind: string
  subjectId: string
  organizationId: string | null
  data: unknown
}

const columns = (
  db: Queryable,
) => db`position, event_id as "eventId", type, told_at as "at", chain_id as "chainId", late,
  subject_kind as "subjectKind", subject_id as "subjectId", organization_id as "organizationId", data`

/** The ends of the feed: the last position there is, and the oldest event that is kept. */
export type FeedEnds = { last: number; oldest: { position: number; eventId: string } | undefined }

/** The last position, and the id of the event there; none before the first event. */
export async function findEnd(db: Queryable): Promise<{ last: number; eventId: string | null }> {
  const [row] = await db<{ last: number; eventId: string | null }[]>`
    select e.position as last, f.event_id as "eventId" from feed_end e left join feed f on f.position = e.position`
  return row ?? { last: 0, eventId: null }
}

export async function findEnds(db: Queryable): Promise<FeedEnds> {
  const [row] = await db<{ last: number; position: number | null; eventId: string | null }[]>`
    select e.position as last, o.position, o.event_id as "eventId" from feed_end e
    left join (select position, event_id from feed order by position limit 1) o on true`
  const { last = 0, position = null, eventId = null } = row ?? {}
  return { last, oldest: position === null || eventId === null ? undefined : { position, eventId } }
}

/** The last position, as a piece of a statement. */
export const lastEventOf = (db: Queryable): Fragment => db.view`(select position from feed_end)`

/** The id of the event at a position; undefined where none is kept. */
export async function findEventId(db: Queryable, position: number): Promise<string | undefined> {
  const [row] = await db<{ eventId: string }[]>`select event_id as "eventId" from feed where position = ${position}`
  return row?.eventId
}

export type FeedFilter = {
  /** Events of this organization are among them, and of no other. */
  organizationId: string
  /** Absent: of all types. */
  types?: readonly string[] | undefined
}

/** Events in (after, to], oldest first. */
export async function listEvents(
  db: Queryable,
  { organizationId, types }: FeedFilter,
  range: { after: number; to: number; limit: number },
): Promise<FeedRow[]> {
  return db<FeedRow[]>`
    select ${columns(db)} from feed
    where position > ${range.after} and position <= ${range.to}
      and (organization_id is null or organization_id = ${organizationId})
      ${types === undefined ? db`` : db`and type = any(${[...types]}::text[])`}
    order by position limit ${range.limit}`
}

/** Events that the index `feed_entries` has. */
const ofEntries = (db: Queryable, feed: Fragment) =>
  db`${feed}.type in ('interaction.confirmed', 'interaction.retracted')`

/** Entries told as confirmed in (after, to] of which nothing was told later, by their positions. */
export async function listConfirmed(
  db: Queryable,
  range: { after: number; to: number; limit: number },
): Promise<{ id: string; position: number; eventId: string }[]> {
  return db<{ id: string; position: number; eventId: string }[]>`
    select f.data ->> 'id' as id, f.position, f.event_id as "eventId" from feed f
    where f.position > ${range.after} and f.position <= ${range.to} and f.type = 'interaction.confirmed'
      and not exists (
        select from feed l
        where l.data ->> 'id' = f.data ->> 'id' and ${ofEntries(db, db`l`)} and l.position > f.position)
    order by f.position limit ${range.limit}`
}

/** The last event that is kept of an entry. */
export async function findEntryEvent(
  db: Queryable,
  id: string,
): Promise<{ position: number; type: string } | undefined> {
  const [row] = await db<{ position: number; type: string }[]>`
    select f.position, f.type from feed f where f.data ->> 'id' = ${id} and ${ofEntries(db, db`f`)}
    order by f.position desc limit 1`
  return row
}

/** All events in (after, to], oldest first, of every organization. */
export async function listAllEvents(
  db: Queryable,
  range: { after: number; to: number; limit: number },
): Promise<FeedRow[]> {
  return db<FeedRow[]>`
    select ${columns(db)} from feed where position > ${range.after} and position <= ${range.to}
    order by position limit ${range.limit}`
}

/** Removes events told before an instant, a batch at a time. The last event stays, so that its cursor stays valid. */
export async function pruneFeed(db: Queryable, before: Date, batch: number): Promise<number> {
  const { count } = await db`
    delete from feed where position in (
      select f.position from feed f where f.told_at < ${before} and f.position < (select position from feed_end)
      order by f.position limit ${batch})`
  return count
}

/** A subject that a live stream follows. */
export type Topic = { kind: 'wallet' | 'opportunity' | 'order'; id: string }

/** Events in (after, to] that are about a subject or name it, oldest first. */
export async function listEventsOf(
  db: Queryable,
  { topic, organizationId }: { topic: Topic; organizationId: string },
  range: { after: number; to: number; limit: number },
): Promise<FeedRow[]> {
  const named =
    topic.kind === 'wallet'
      ? db`or data ->> 'walletAddress' = ${topic.id}`
      : topic.kind === 'opportunity'
        ? db`or data ->> 'opportunityId' = ${topic.id}`
        : db``
  return db<FeedRow[]>`
    select ${columns(db)} from feed
    where position > ${range.after} and position <= ${range.to}
      and (organization_id is null or organization_id = ${organizationId})
      and ((subject_kind = ${topic.kind} and subject_id = ${topic.id}) ${named})
    order by position limit ${range.limit}`
}

/** The events at some positions that are kept. */
export async function listRowsAt(db: Queryable, positions: readonly number[]): Promise<FeedRow[]> {
  return db<FeedRow[]>`select ${columns(db)} from feed where position = any(${[...positions]}::bigint[])`
}
