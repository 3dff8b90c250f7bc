import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/database.js'
import { flushEvents } from '../../../../test/flushEvents.js'
import { createRandom } from '../../../../test/simulation/random.js'
import { fakeClock } from '../../../kernel/clock.js'
import { silentLog } from '../../../kernel/log.js'
import type { EarnEvent } from '../event.js'
import { type Feed, openFeed } from '../feed.js'
import { tell } from '../index.js'
import { type Forwarding, forwardEvents, type Sink } from './forwardEvents.js'

let database: TestDatabase
let feed: Feed

beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(async () => {
  await database.db`truncate outbox, feed`
  await database.db`update feed_end set position = 0`
  feed = await openFeed({ db: database.db, log: silentLog })
  return () => feed.close()
})
afterAll(() => database.close())

const at = new Date('2026-11-20T12:00:00Z')
const tellFacts = async (from: number, to: number) => {
  const facts = Array.from({ length: to - from }, (_, index) => ({
    ...{ type: 'chain.final', at, chainId: 1, data: { blockNumber: from + index } },
    subject: { kind: 'chain' as const, id: '1' },
  }))
  await tell(database.db, facts)
  await flushEvents(database.db)
}
const numbers = (events: readonly EarnEvent[]) => events.map(({ data }) => data['blockNumber'])
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A sink in memory that loses its answer, or takes a part only, as `fails` says. */
function openSink(fails: () => boolean = () => false) {
  const events: EarnEvent[] = []
  const sink: Sink = {
    findLast: async () => {
      if (fails()) throw new Error('the sink is away')
      return events.at(-1)?.cursor
    },
    append: async (more) => {
      const isBroken = fails()
      events.push(...(isBroken ? more.slice(0, more.length / 2) : more))
      if (isBroken) throw new Error('the sink broke off')
    },
  }
  return { sink, events }
}

const forward = (sink: Sink, options: Partial<Forwarding> = {}) =>
  forwardEvents({ db: database.db, feed, log: silentLog, clock: fakeClock(at) }, sink, {
    ...{ once: true, signal: new AbortController().signal },
    ...options,
  })

describe('events are forwarded', () => {
  it('each once and in order, and a second run adds what came since', async () => {
    const { sink, events } = openSink()
    await tellFacts(0, 1_200)
    await forward(sink)
    expect(numbers(events)).toEqual(upTo(1_200))
    await tellFacts(1_200, 1_203)
    await forward(sink)
    expect(numbers(events)).toEqual(upTo(1_203))
  })

  it('each once and in order where the sink fails now and then, before and after it took a part', async () => {
    const random = createRandom(7)
    const { sink, events } = openSink(() => random.next() < 0.3)
    await tellFacts(0, 4_000)
    const stopping = new AbortController()
    const onProgress: Forwarding['onProgress'] = ({ left }) => left === 0 && stopping.abort()
    // A sink that took the last part and lost the answer tells no progress: one that finds everything there is done too.
    const findLast = async () => {
      const cursor = await sink.findLast()
      if (events.length === 4_000) stopping.abort()
      return cursor
    }
    await forward({ ...sink, findLast }, { once: false, signal: stopping.signal, onProgress })
    expect(numbers(events)).toEqual(upTo(4_000))
  })

  it('as they come, until it is stopped', async () => {
    const { sink, events } = openSink()
    const stopping = new AbortController()
    const running = forward(sink, { once: false, signal: stopping.signal })
    for (const count of [1, 2, 3]) {
      await tellFacts(count - 1, count)
      await expect.poll(() => events.length).toBe(count)
    }
    stopping.abort()
    await running
    expect(numbers(events)).toEqual([0, 1, 2])
  })

  it('from where --after says in an empty sink, and a sink that holds events goes on after them all the same', async () => {
    await tellFacts(0, 10)
    const all = openSink()
    await forward(all.sink)
    const { sink, events } = openSink()
    await forward(sink, { after: all.events[6]!.cursor })
    expect(numbers(events)).toEqual([7, 8, 9])
    await tellFacts(10, 11)
    await forward(sink, { after: all.events[2]!.cursor })
    expect(numbers(events)).toEqual([7, 8, 9, 10])
  })

  it('never across a gap: where the sink’s last event is not in the feed it ends with CURSOR_GONE, also while it runs', async () => {
    const { sink, events } = openSink()
    await tellFacts(0, 5)
    const stopping = new AbortController()
    const running = forward(sink, { once: false, signal: stopping.signal })
    const ended = expect(running).rejects.toMatchObject({ code: 410, reason: 'CURSOR_GONE' })
    await expect.poll(() => events.length).toBe(5)
    // What a promotion without the last two rows looks like.
    await database.db`delete from feed where position > 3`
    await database.db`update feed_end set position = 3`
    await tellFacts(3, 8)
    await ended
    expect(numbers(events)).toEqual([0, 1, 2, 3, 4])
  })
})
