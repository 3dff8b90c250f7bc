/** A place in the feed: the position of an event and the first 12 hex digits of its id. */
export type Cursor = { position: number; digits: string }

const form = /^(0|[1-9][0-9]{0,14})-([0-9a-f]{12})$/

/** Before the first event there ever was. */
export const startCursor = '0-000000000000'

/** The cursor of an event. It differs where a restored database has given its position to another event. */
export function formatCursor({ position, eventId }: { position: number; eventId: string }): string {
  return `${position}-${eventId.replaceAll('-', '').slice(0, 12)}`
}

/** Reads a cursor; undefined if malformed. */
export function parseCursor(text: string): Cursor | undefined {
  const [, position, digits] = form.exec(text) ?? []
  return position === undefined || digits === undefined ? undefined : { position: Number(position), digits }
}
