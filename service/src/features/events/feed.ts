import { systemClock } from '../../kernel/clock.js'
import type { Context } from '../../postgres/context.js'
import { type Database, inTransaction } from '../../postgres/pool.js'
import { type Live, openLive } from './live.js'
import { findEnd } from './storeFeed.js'
import { eventsChannel, moveBatch } from './storeOutbox.js'
import type { WebhookContext } from './webhooks/secrets.js'

/** The feed as a process sees it. */
export type Feed = {
  /** The last position this process knows of. */
  last(): number
  /** The id of the event there; none before the first one. */
  lastId(): string | null
  /** Resolves once the feed goes beyond a position, after `ms` milliseconds, at a stop, and when `until` aborts. */
  wait(beyond: number, ms: number, until?: AbortSignal): Promise<void>
  /** Calls `onMore` whenever the end of the feed is another one: it has grown, or the database was replaced. Returns a function that ends it. */
  watch(onMore: () => void): () => void
  readonly live: Live
  close(): Promise<void>
}

export type EventsContext = WebhookContext & { readonly feed: Feed }

/** How often the feed is looked at although nothing was announced. */
const pollMsDefault = 1_000

/**
 * Opens the feed, and moves events from the outbox to it as they come. Any number of processes may do so: one moves at a time.
 * `signal` ends every wait at once.
 */
export async function openFeed(
  ctx: Pick<Context, 'db' | 'log'>,
  options: { signal?: AbortSignal; pollMs?: number } = {},
): Promise<Feed> {
  const { db, log } = ctx
  const { pollMs = pollMsDefault } = options
  const stopping = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal
  const watchers = new Set<() => void>()
  let { last, eventId } = await findEnd(db)
  const reach = (end: { last: number; eventId: string | null }) => {
    if (end.last === last && end.eventId === eventId) return
    ;({ last, eventId } = end)
    for (const onMore of watchers) onMore()
  }
  let isAnnounced = false
  let moving: Promise<void> | undefined
  let failures = 0
  const look = async () => {
    try {
      await moveAll(db)
      const before = eventId
      const end = await findEnd(db)
      // A notification that came meanwhile may be newer than what was read.
      if (eventId === before || end.last > last) reach(end)
      else isAnnounced = true
      failures = 0
    } catch (error) {
      if (failures++ % 60 === 0 && !signal.aborted) log.warn({ err: error }, 'the feed of events could not be read')
    }
  }
  const move = () => {
    isAnnounced = true
    moving ??= (async () => {
      while (isAnnounced && !signal.aborted) {
        isAnnounced = false
        await look()
      }
      moving = undefined
    })()
  }
  const { unlisten } = await db.listen(
    eventsChannel,
    (message) => {
      const [position, id] = message.split(' ')
      // One that is late says nothing new. Whether the feed goes back is looked up.
      if (id !== undefined && Number(position) > last) reach({ last: Number(position), eventId: id })
      else if (id !== eventId) move()
    },
    move,
  )
  const polling = (async () => {
    while (!signal.aborted) {
      await systemClock.sleep(pollMs, signal)
      if (!signal.aborted) move()
    }
  })()
  const feed = {
    last: () => last,
    lastId: () => eventId,
    wait: async (beyond: number, ms: number, until?: AbortSignal) => {
      if (last > beyond || signal.aborted) return
      const ending = new AbortController()
      const onMore = () => last > beyond && ending.abort()
      watchers.add(onMore)
      await systemClock.sleep(ms, AbortSignal.any([ending.signal, signal, ...(until ? [until] : [])]))
      watchers.delete(onMore)
    },
    watch: (onMore: () => void) => {
      watchers.add(onMore)
      return () => {
        watchers.delete(onMore)
      }
    },
    close: async () => {
      stopping.abort()
      await unlisten()
      await polling
      await moving
    },
  }
  return { ...feed, live: openLive(ctx, feed) }
}

/** Moves everything that is visible, or as much as another process leaves. */
export async function moveAll(db: Database): Promise<void> {
  for (;;) {
    const moved = await inTransaction(db, (tx) => moveBatch(tx))
    if (moved === undefined || moved === 0) return
  }
}
