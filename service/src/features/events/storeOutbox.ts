import { newId } from '../../kernel/ids.js'
import type { Fact } from '../../postgres/context.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'

/** Its messages are empty where something was put into the outbox, else the position and the id of the last event. */
export const eventsChannel = 'openearn_events'

const column = <V>(facts: readonly Fact[], read: (fact: Fact) => V): V[] => facts.map(read)

/** Writes facts into the outbox, in order, in the transaction that makes them. */
export async function recordFacts(tx: Queryable, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return
  await tx`
    insert into outbox (event_id, type, told_at, chain_id, late, subject_kind, subject_id, organization_id, data)
    select t.event_id, t.type, t.told_at, t.chain_id, t.late, t.subject_kind, t.subject_id, t.organization_id, t.data
    from unnest(${column(facts, () => newId())}::uuid[], ${column(facts, (f) => f.type)}::text[],
      ${column(facts, (f) => f.at)}::timestamptz[], ${column(facts, (f) => f.chainId)}::bigint[],
      ${column(facts, (f) => f.late ?? false)}::boolean[], ${column(facts, (f) => f.subject.kind)}::text[],
      ${column(facts, (f) => f.subject.id)}::text[], ${column(facts, (f) => f.organizationId ?? null)}::uuid[],
      ${column(facts, (f) => JSON.stringify(f.data))}::json[]) with ordinality
      as t (event_id, type, told_at, chain_id, late, subject_kind, subject_id, organization_id, data, place)
    order by t.place`
  await tx`select pg_notify(${eventsChannel}, '')`
}

/** Events moved at once. */
const batchMax = 1_000

/**
 * Moves the oldest events that are visible from the outbox to the feed, and gives them the next positions. Undefined where
 * another process is doing so: it has begun before, so events that it did not see are left. Returns how many were moved.
 */
export async function moveBatch(tx: Transaction): Promise<number | undefined> {
  const [end] = await tx<{ position: number }[]>`select position from feed_end for update skip locked`
  if (!end) return undefined
  const [moved] = await tx<{ count: number; position: number; eventId: string }[]>`
    with taken as (
      delete from outbox where id in (select id from outbox order by id limit ${batchMax}) returning *),
    moved as (
      insert into feed (position, event_id, type, told_at, chain_id, late, subject_kind, subject_id, organization_id, data)
      select ${end.position}::bigint + row_number() over (order by id), event_id, type, told_at, chain_id, late, subject_kind,
        subject_id, organization_id, data
      from taken returning position, event_id)
    select count(*) over () as count, position, event_id as "eventId" from moved order by position desc limit 1`
  if (!moved) return 0
  const { count, position, eventId } = moved
  await tx`update feed_end set position = ${position}`
  await tx`select pg_notify(${eventsChannel}, ${`${position} ${eventId}`})`
  return count
}
