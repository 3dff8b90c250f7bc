import type { Queryable } from '../../postgres/pool.js'
import { formatCursor } from './cursor.js'
import { cursorAt, findPosition, goneError } from './getEvents.js'
import { findEnds, findEntryEvent, listConfirmed } from './storeFeed.js'

/** Positions looked at for one batch. */
const scannedMax = 20_000

const entryForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Entries in the order in which they were told as confirmed. */
export type ConfirmedEntries = {
  entries: { id: string; cursor: string }[]
  /** The cursor of `after`. */
  from: string
  /** The cursor after everything that was looked at. */
  next: string
  /** The feed goes on after `next`. */
  isMore: boolean
}

/**
 * Entries by the position of their last `interaction.confirmed`, oldest first; those that were told again or taken back later
 * are left out here. `after` is a cursor or the id of an entry. Throws 410 where the event is not in the feed or the entry was
 * taken back, and 400 for any other text.
 */
export async function readConfirmedEntries(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<ConfirmedEntries> {
  const position = entryForm.test(after)
    ? await findEntryPosition(db, after.toLowerCase())
    : await findPosition(db, after)
  const from = await cursorAt(db, position)
  const { last } = await findEnds(db)
  const to = Math.max(position, Math.min(last, position + scannedMax))
  const rows = await listConfirmed(db, { after: position, to, limit })
  const entries = rows.map(({ id, ...event }) => ({ id, cursor: formatCursor(event) }))
  const end = entries.length === limit ? entries.at(-1) : undefined
  if (end) return { entries, from, next: end.cursor, isMore: true }
  return { entries, from, next: await cursorAt(db, to), isMore: to < last }
}

async function findEntryPosition(db: Queryable, id: string): Promise<number> {
  const event = await findEntryEvent(db, id)
  if (event?.type !== 'interaction.confirmed') throw await goneError(db)
  return event.position
}
