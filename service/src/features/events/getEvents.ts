import { systemClock } from '../../kernel/clock.js'
import { gone, invalidArgument } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import type { Queryable } from '../../postgres/pool.js'
import { formatCursor, parseCursor, startCursor } from './cursor.js'
import { type EarnEvent, eventTypes, toEvent } from './event.js'
import type { EventsContext } from './feed.js'
import { type FeedRow, findEnd, findEnds, findEventId, listEvents } from './storeFeed.js'

export type GetEventsInput = { after?: string; types?: string[]; limit?: number; waitSeconds?: number }

/** Events looked at for one page. A page of rare types may be empty, and `next` goes on. */
const scannedMax = 20_000
const limitDefault = 100

/**
 * Events after a cursor, oldest first, and the cursor to go on from. Where there are none it waits up to `waitSeconds`. Throws
 * 410 for a cursor whose event is not in the feed, and 400 for a text that is no cursor.
 */
export async function getEvents(
  ctx: EventsContext,
  input: GetEventsInput,
  caller: Caller,
): Promise<{ data: EarnEvent[]; next: string }> {
  const { db, feed } = ctx
  const { limit = limitDefault, waitSeconds = 0, types } = input
  assertTypes(types)
  const after = await findPosition(db, input.after)
  const filter = { organizationId: caller.organizationId, types }
  const endMs = systemClock.monotonicMs() + waitSeconds * 1_000
  for (let from = after; ; ) {
    const { last } = await findEnds(db)
    const to = Math.min(last, from + scannedMax)
    const rows = await listEvents(db, filter, { after: from, to, limit })
    const leftMs = endMs - systemClock.monotonicMs()
    if (rows.length > 0 || to < last || leftMs <= 0) return toPage(db, rows, { limit, to: Math.max(to, from) })
    const here = await cursorAt(db, to)
    await feed.wait(to, leftMs)
    // Meanwhile the database may have been replaced by one without the last events.
    await findPosition(db, here)
    // A stop ends the wait as well.
    if (feed.last() <= to) return toPage(db, [], { limit, to: Math.max(to, from) })
    from = to
  }
}

/** A page, with the cursor of the last event that was looked at. */
async function toPage(db: Queryable, rows: readonly FeedRow[], { limit, to }: { limit: number; to: number }) {
  const full = rows.length === limit ? rows.at(-1) : undefined
  return { data: rows.map(toEvent), next: full ? formatCursor(full) : await cursorAt(db, to) }
}

/** The cursor of a position; throws 410 where the feed holds none there. */
export async function cursorAt(db: Queryable, position: number): Promise<string> {
  if (position === 0) return startCursor
  const eventId = await findEventId(db, position)
  if (eventId === undefined) throw await goneError(db)
  return formatCursor({ position, eventId })
}

/** The cursor that the next event comes after. */
export async function findNext(db: Queryable): Promise<string> {
  const { last, eventId } = await findEnd(db)
  return eventId === null ? startCursor : formatCursor({ position: last, eventId })
}

/** The position that a caller goes on from. */
export async function findPosition(db: Queryable, after: string | undefined): Promise<number> {
  const { last, oldest } = await findEnds(db)
  if (after === 'latest') return last
  if (after === undefined) return (oldest?.position ?? last + 1) - 1
  const cursor = parseCursor(after)
  if (!cursor)
    throw invalidArgument('after must be a cursor from next or from an event, or latest', {
      context: { violations: [{ path: 'after', message: 'must be a cursor, or latest' }] },
    })
  const { position, digits } = cursor
  if (position === 0 && after === startCursor && (last === 0 || oldest?.position === 1)) return 0
  const eventId = position === 0 ? undefined : await findEventId(db, position)
  if (eventId === undefined || formatCursor({ position, eventId }) !== `${position}-${digits}`)
    throw await goneError(db)
  return position
}

export async function goneError(db: Queryable) {
  const { oldest } = await findEnds(db)
  const cursor = oldest ? formatCursor(oldest) : startCursor
  return gone(
    'the event of this cursor is not in the feed: it was pruned, or the database was restored; read what you hold again, then go on from context.oldest',
    { reason: 'CURSOR_GONE', context: { oldest: cursor } },
  )
}

export function assertTypes(types: readonly string[] | undefined): void {
  const known: readonly string[] = eventTypes
  const unknown = types?.find((type) => !known.includes(type))
  if (unknown === undefined) return
  const message = `must be types of events: ${known.join(', ')}`
  throw invalidArgument(`types ${message}`, { context: { violations: [{ path: 'types', message }] } })
}
