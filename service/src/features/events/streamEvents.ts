import { EarnError, invalidArgument } from '../../kernel/errors.js'
import { type Caller, LiveBody } from '../../kernel/operation.js'
import type { EventsContext } from './feed.js'
import { findPosition } from './getEvents.js'
import { parseTopic } from './live.js'

/**
 * Live events of a wallet, an opportunity or an order, from now on or after `lastEventId`. A cursor that is lost gives an event
 * `gone` first; the stream then goes on from now. Throws 400 for a malformed subject or cursor.
 */
export async function streamEvents(
  ctx: EventsContext,
  input: { subject: string; lastEventId?: string },
  caller: Caller,
): Promise<LiveBody> {
  const topic = parseTopic(input.subject)
  if (!topic) {
    const message = 'must be wallet:0x…, opportunity:<uuid> or order:<uuid>'
    throw invalidArgument(`subject ${message}`, { context: { violations: [{ path: 'subject', message }] } })
  }
  const begun = await findStart(ctx, input.lastEventId)
  return new LiveBody((sink) => {
    if (begun.lost) sink.write(begun.lost)
    return ctx.feed.live.follow(begun.position, {
      topic,
      organizationId: caller.organizationId,
      onEvent: ({ frame }) => sink.write(frame),
      onLost: sink.end,
    })
  })
}

async function findStart(
  { db, feed }: EventsContext,
  lastEventId: string | undefined,
): Promise<{ position: number; lost?: string }> {
  if (lastEventId === undefined) return { position: feed.last() }
  try {
    return { position: await findPosition(db, lastEventId) }
  } catch (error) {
    if (!(error instanceof EarnError) || error.reason !== 'CURSOR_GONE') throw error
    return { position: feed.last(), lost: `event: gone\ndata: ${JSON.stringify(error.toBody())}\n\n` }
  }
}
