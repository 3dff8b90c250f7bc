import type { Clock } from '../../../kernel/clock.js'
import { EarnError } from '../../../kernel/errors.js'
import type { Log } from '../../../kernel/log.js'
import type { Database } from '../../../postgres/pool.js'
import { formatCursor } from '../cursor.js'
import { type EarnEvent, toEvent } from '../event.js'
import type { Feed } from '../feed.js'
import { findPosition } from '../getEvents.js'
import { findEnd, listAllEvents } from '../storeFeed.js'

/** Where events go. It holds the position too, so that there is one truth about what arrived. */
export type Sink = {
  /** The cursor of the last event that it holds; undefined where it never held one. */
  findLast(): Promise<string | undefined>
  /** Appends events after those that `findLast` saw, in order. Throws unless it holds all of them. */
  append(events: readonly EarnEvent[]): Promise<void>
}

export type Forwarding = {
  /** Where to begin in a sink that is empty. Absent: with the oldest event that is kept. */
  after?: string | undefined
  /** Ends once the sink has every event, and throws what fails at once. */
  once: boolean
  signal: AbortSignal
  onProgress?(progress: { done: number; left: number }): void
}

/** Events sent at once. */
const batchMax = 500
const retryMsFirst = 250
const retryMsMax = 15_000
/** How long the feed is waited for before the database is asked again. */
const waitMs = 5_000

/**
 * Copies the feed into a sink: each event once and in order, whichever of the two is killed. Goes on after the last event that
 * the sink holds, and tries again while database or sink fail. Throws 410 where that event is not in the feed any more. Ends
 * when `signal` aborts.
 */
export async function forwardEvents(
  { db, feed, log, clock }: { db: Database; feed: Feed; log: Log; clock: Clock },
  sink: Sink,
  { after, once, signal, onProgress }: Forwarding,
): Promise<void> {
  let done = 0
  let retryMs = retryMsFirst
  while (!signal.aborted) {
    try {
      for (let cursor = (await sink.findLast()) ?? after; !signal.aborted; ) {
        // Looked up each time: a standby that lost the last events may have become the database meanwhile.
        const position = await findPosition(db, cursor)
        const { last } = await findEnd(db)
        const rows = await listAllEvents(db, { after: position, to: last, limit: batchMax })
        const end = rows.at(-1)
        if (!end) {
          if (once) return
          await feed.wait(position, waitMs, signal)
          continue
        }
        await sink.append(rows.map(toEvent))
        cursor = formatCursor(end)
        done += rows.length
        retryMs = retryMsFirst
        onProgress?.({ done, left: last - end.position })
      }
    } catch (error) {
      if (once || isRefusal(error)) throw error
      if (signal.aborted) return
      log.warn({ err: error }, `events could not be forwarded: trying again in ${retryMs / 1_000} s`)
      await clock.sleep(retryMs, signal)
      retryMs = Math.min(retryMs * 2, retryMsMax)
    }
  }
}

/** Trying again changes nothing. */
const isRefusal = (error: unknown) => error instanceof EarnError && error.code < 500
