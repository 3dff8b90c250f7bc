import { getAddress } from 'viem'
import type { Context } from '../../postgres/context.js'
import { toEvent } from './event.js'
import { type FeedRow, listAllEvents, listEventsOf, type Topic } from './storeFeed.js'

/** A reader of the events of one subject. */
export type Follower = {
  topic: Topic
  organizationId: string
  /** Takes an event of its subject, each once and in order. */
  onEvent(event: { position: number; frame: string }): void
  /** The feed could not be read: the reader has to begin anew. */
  onLost(): void
}

/** The end of the feed, and who is told that it has moved. */
type Growing = { last(): number; lastId(): string | null; watch(onMore: () => void): () => void }

/** Hands the events of the feed to readers as they come. The feed is read once for all readers of a process. */
export type Live = {
  /** Follows a subject from the position after `from` on. Returns a function that ends it. */
  follow(from: number, follower: Follower): () => void
}

/** The database was restored, or a standby took its place that lacks the last events. */
class FeedReplaced extends Error {
  override readonly name = 'FeedReplaced'
  override readonly message = 'the feed is not the one that was read before: the database was replaced'
}

/** Events read at once. */
const batchMax = 500
/** Positions looked at in one statement for a reader that catches up. */
const scannedMax = 20_000

export function openLive({ db, log }: Pick<Context, 'db' | 'log'>, feed: Growing): Live {
  const followers = new Map<string, Set<Follower>>()
  /** All events up to here were handed out. */
  let position = 0
  /** The id of the event there. */
  let eventId: string | null = null
  let isReading = false
  let unwatch: (() => void) | undefined

  const handOut = (row: FeedRow) => {
    let frame: string | undefined
    for (const topic of topicsOf(row))
      for (const follower of followers.get(keyOf(topic)) ?? []) {
        if (row.organizationId !== null && row.organizationId !== follower.organizationId) continue
        frame ??= toFrame(row)
        follower.onEvent({ position: row.position, frame })
      }
  }
  const read = async () => {
    if (position > feed.last()) throw new FeedReplaced()
    if (position === feed.last() && eventId !== feed.lastId()) throw new FeedReplaced()
    while (followers.size > 0 && position < feed.last()) {
      // The event that was handed out last is read again: another one there means that positions are given out anew.
      const rows = await listAllEvents(db, { after: position - 1, to: feed.last(), limit: batchMax })
      const [before] = rows
      if (before?.position === position) {
        if (before.eventId !== eventId) throw new FeedReplaced()
        rows.shift()
      } else if (eventId !== null) throw new FeedReplaced()
      for (const row of rows) handOut(row)
      const end = rows.at(-1)
      if (end) ({ position, eventId } = end)
      else begin()
    }
  }
  const onMore = () => {
    if (isReading) return
    isReading = true
    read()
      .catch((error: unknown) => {
        log.warn(
          { err: error },
          'the feed of events could not be read: live streams end, and their callers connect again',
        )
        for (const each of [...followers.values()].flatMap((own) => [...own])) each.onLost()
        begin()
      })
      .finally(() => {
        isReading = false
        if (followers.size > 0 && position < feed.last()) onMore()
      })
  }
  const begin = () => {
    position = feed.last()
    eventId = feed.lastId()
  }
  const join = (follower: Follower) => {
    if (followers.size === 0) {
      begin()
      unwatch = feed.watch(onMore)
    }
    const key = keyOf(follower.topic)
    const own = followers.get(key) ?? new Set()
    followers.set(key, own.add(follower))
  }
  const leave = (follower: Follower) => {
    const key = keyOf(follower.topic)
    const own = followers.get(key)
    own?.delete(follower)
    if (own?.size === 0) followers.delete(key)
    if (followers.size === 0) unwatch?.()
  }

  return {
    follow: (from, follower) => {
      let isOver = false
      /** Events that came while earlier ones were read; undefined once those are handed out. */
      let waiting: { position: number; frame: string }[] | undefined = []
      let last = from
      const give = (event: { position: number; frame: string }) => {
        if (isOver || event.position <= last) return
        last = event.position
        follower.onEvent(event)
      }
      const member: Follower = { ...follower, onEvent: (event) => (waiting ? waiting.push(event) : give(event)) }
      join(member)
      const catchUp = async () => {
        for (let after = from; !isOver && after < position; ) {
          const to = Math.min(after + scannedMax, position)
          const rows = await listEventsOf(db, follower, { after, to, limit: batchMax })
          for (const row of rows) give({ position: row.position, frame: toFrame(row) })
          after = rows.length === batchMax ? (rows.at(-1)?.position ?? to) : to
        }
        for (const event of waiting ?? []) give(event)
        waiting = undefined
      }
      catchUp().catch(() => follower.onLost())
      return () => {
        isOver = true
        leave(member)
      }
    },
  }
}

/** A reader of a subject takes its own facts, and those in which it is named. */
function topicsOf({ subjectKind: kind, subjectId: id, data }: FeedRow): Topic[] {
  const topics: Topic[] = []
  const add = (topic: Topic) => {
    if (!topics.some((each) => keyOf(each) === keyOf(topic))) topics.push(topic)
  }
  if (kind === 'wallet' || kind === 'opportunity' || kind === 'order') add({ kind, id })
  const { walletAddress, opportunityId } = (data ?? {}) as { walletAddress?: unknown; opportunityId?: unknown }
  if (typeof walletAddress === 'string') add({ kind: 'wallet', id: walletAddress })
  if (typeof opportunityId === 'string') add({ kind: 'opportunity', id: opportunityId })
  return topics
}

const keyOf = ({ kind, id }: Topic): string => `${kind}:${id}`

const form =
  /^(?:(wallet):(0[xX][0-9a-fA-F]{40})|(opportunity|order):([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}))$/

/** Reads `wallet:0x…`, `opportunity:<uuid>` or `order:<uuid>`; undefined if malformed. */
export function parseTopic(text: string): Topic | undefined {
  const [, wallet, address, kind, id] = form.exec(text) ?? []
  if (wallet && address) return { kind: 'wallet', id: getAddress(address.toLowerCase()) }
  if (kind && id) return { kind: kind as Topic['kind'], id: id.toLowerCase() }
  return undefined
}

function toFrame(row: FeedRow): string {
  const event = toEvent(row)
  return `id: ${event.cursor}\ndata: ${JSON.stringify(event)}\n\n`
}
