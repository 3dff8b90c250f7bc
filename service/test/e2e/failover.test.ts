import { chmod, rm } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { forwardEvents, type Sink } from '../../src/features/events/forward/forwardEvents.js'
import { getEvents } from '../../src/features/events/getEvents.js'
import { type EventsContext, openFeed, tell } from '../../src/features/events/index.js'
import { streamEvents } from '../../src/features/events/streamEvents.js'
import { systemClock } from '../../src/kernel/clock.js'
import { newId } from '../../src/kernel/ids.js'
import { silentLog } from '../../src/kernel/log.js'
import type { Caller } from '../../src/kernel/operation.js'
import { migrate, readMigrations } from '../../src/postgres/migrate.js'
import { flushEvents } from '../flushEvents.js'
import { openServer, openStandby, type Server } from './ownServer.js'
import { makeFolder } from './process.js'

const wallet = '0x00000000000000000000000000000000000000A1'
const caller: Caller = { keyId: '', kind: 'secret', organizationId: newId(), distributorId: null, permissions: [] }

let folder: string
let server: Server
let ctx: EventsContext

beforeEach(async () => {
  folder = await makeFolder('openearn-failover-')
  await chmod(folder, 0o755)
  server = await openServer(folder, 'primary')
  await migrate(server.db, await readMigrations())
  const base = { db: server.db, log: silentLog, clock: systemClock }
  ctx = { ...base, feed: await openFeed(base), sealing: undefined } as unknown as EventsContext
}, 120_000)
afterEach(async () => {
  await ctx?.feed.close()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const tellNow = async (...names: string[]) => {
  await tell(
    server.db,
    names.map((name) => ({
      ...{ type: 'interaction.confirmed', at: new Date('2026-11-20T12:00:00Z'), chainId: 1, data: { name } },
      subject: { kind: 'wallet' as const, id: wallet },
    })),
  )
  await flushEvents(server.db)
}
const namesOf = (events: readonly { data: Record<string, unknown> }[]) => events.map(({ data }) => data['name'])

/** A reader of each kind, which has what was told so far. */
async function follow() {
  const page = await getEvents(ctx, { after: '0-000000000000' }, caller)
  const frames: string[] = []
  let hasEnded = false
  const open = async (lastEventId?: string) => {
    const body = await streamEvents(
      ctx,
      { subject: `wallet:${wallet}`, ...(lastEventId ? { lastEventId } : {}) },
      caller,
    )
    return body.start({
      write: (frame: string) => {
        frames.push(frame)
      },
      end: () => {
        hasEnded = true
        stop()
      },
    } as never)
  }
  const stop = await open()
  const copy: { cursor: string; data: Record<string, unknown> }[] = []
  const sink: Sink = {
    findLast: async () => copy.at(-1)?.cursor,
    append: async (events) => {
      copy.push(...events)
    },
  }
  const stopping = new AbortController()
  const forwarding = forwardEvents(ctx, sink, { once: false, signal: stopping.signal }).then(
    () => 'stopped',
    (error: { reason?: string }) => error.reason,
  )
  return {
    ...{ page, frames, copy, open, stop, forwarding },
    hasEnded: () => hasEnded,
    end: () => {
      stop()
      stopping.abort()
    },
  }
}

/** The names that a live stream was told. */
const toldIn = (frames: readonly string[]) => frames.flatMap((frame) => /"name":"([^"]+)"/.exec(frame)?.[1] ?? [])

/** Every reader that is ahead of a database that was replaced learns so, and none skips an event. */
async function assertNoneSkips(
  readers: Awaited<ReturnType<typeof follow>>,
  { kept, cursor }: { kept: number; cursor: string },
) {
  const lost = ['lost 1', 'lost 2', 'lost 3']
  // As many new events as were lost: they have the positions of the lost ones.
  await tellNow('new 1', 'new 2', 'new 3')
  await until('the live stream to end', () => readers.hasEnded())
  expect(await readers.forwarding).toBe('CURSOR_GONE')
  expect(namesOf(readers.copy)).toEqual([...['kept 1', 'kept 2', 'kept 3'].slice(0, kept), ...lost])
  expect(toldIn(readers.frames)).toEqual(lost)
  await expect(getEvents(ctx, { after: cursor }, caller)).rejects.toMatchObject({ code: 410, reason: 'CURSOR_GONE' })
  const stop = await readers.open(cursor)
  expect(readers.frames.at(-1)).toMatch(/^event: gone\n/)
  stop()
  const { data } = await getEvents(ctx, { after: readers.page.next }, caller)
  expect(namesOf(data)).toEqual(['new 1', 'new 2', 'new 3'])
}

describe('a reader that is ahead of the database', () => {
  it('is refused with 410, ended or stopped after a standby was promoted that lacks the last events', async () => {
    await tellNow('kept 1', 'kept 2')
    const standby = await openStandby(folder, 'standby', server)
    const { data } = standby
    await tellNow('kept 3')
    const readers = await follow()
    try {
      const end = () => server.db<{ position: number }[]>`select position from feed_end`
      const copied = () => standby.db<{ position: number }[]>`select position from feed_end`
      await until('the standby to follow', async () => (await copied())[0]?.position === (await end())[0]?.position)
      // It is cut off: what comes now it never gets.
      await standby.stop('SIGKILL')
      await tellNow('lost 1', 'lost 2', 'lost 3')
      await until('the copy to have all', () => readers.copy.length === 6)
      await until('the live stream to have all', () => toldIn(readers.frames).length === 3 || readers.hasEnded())
      const cursor = readers.copy.at(-1)?.cursor ?? ''
      await server.stop('SIGKILL')
      // It takes the address of the primary.
      server.use(data)
      await server.start()
      await server.db`select pg_promote()`
      await until('the standby to be promoted', async () => {
        const [row] = await server.db<{ is: boolean }[]>`select pg_is_in_recovery() as is`
        return row?.is === false
      })
      await assertNoneSkips(readers, { kept: 3, cursor })
    } finally {
      readers.end()
      await standby.close()
    }
  }, 120_000)

  it('is refused with 410, ended or stopped after a backup was restored', async () => {
    await tellNow('kept 1', 'kept 2')
    await server.stop()
    const data = await server.copy('backup')
    await server.start()
    const readers = await follow()
    try {
      await tellNow('lost 1', 'lost 2', 'lost 3')
      await until('the copy to have all', () => readers.copy.length === 5)
      await until('the live stream to have all', () => toldIn(readers.frames).length === 3 || readers.hasEnded())
      const cursor = readers.copy.at(-1)?.cursor ?? ''
      await server.stop()
      server.use(data)
      await server.start()
      await assertNoneSkips(readers, { kept: 2, cursor })
    } finally {
      readers.end()
    }
  }, 120_000)
})
