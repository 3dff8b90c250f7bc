import { expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { moveAll, startDeliveries, tell } from '../../src/features/events/index.js'
import type { Fact } from '../../src/postgres/context.js'
import { type Database, inTransaction } from '../../src/postgres/pool.js'
import { Death, dyingDb } from '../dying.js'
import { flushEvents } from '../flushEvents.js'
import type { Respond } from '../receiver.js'
import { openWebhookWorld } from '../webhookWorld.js'
import { createRandom } from './random.js'

const kills = Number(process.env['DELIVERY_KILLS'] ?? 150)
const seed = 11
const subjects = 5

/** Does some work in a process that may die in it. Returns whether it did. */
async function dies(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return false
  } catch (error) {
    if (error instanceof Death) return true
    throw error
  }
}

it(`every event reaches a webhook, in the order of its subject and always with its id, though writers, movers, senders and receivers are killed at ${kills} random points`, async () => {
  const random = createRandom(seed)
  const world = await openWebhookWorld()
  const { earn, receiver } = world
  const { db } = earn
  const { sealing, config } = earn.ctx
  if (!sealing) throw new Error('there is no key for secrets')
  await world.create()
  // Facts are rows of this table as well: what became true is what committed here.
  await db`create table facts (name text primary key)`
  /** What the receiver has done about events, in order: its death before the answer does not undo it. */
  const taken: { id: string; position: number; subject: string; name: string }[] = []
  let dead = 0
  let receiverDies = 0
  const respond: Respond = ({ body, headers }, response) => {
    const name: string = body.data.id
    const note = () => {
      expect(headers['webhook-id']).toBe(body.id)
      taken.push({ id: body.id, position: Number(body.cursor.split('-')[0]), subject: body.subject.id, name })
    }
    if (receiverDies > 0) {
      receiverDies -= 1
      dead += 1
      // Before it did anything, after it had done everything, or in the middle of its answer.
      if (random.chance(0.6)) note()
      if (random.chance(0.3)) response.write('{')
      response.socket?.destroy()
      return
    }
    note()
    response.writeHead(204).end()
  }
  receiver.respond(respond)

  let named = 0
  const write = async (on: Database) => {
    const facts = Array.from({ length: random.int(1, 4) }, (): Fact => {
      const subject = { kind: 'wallet', id: `0x${String(random.int(1, subjects)).padStart(40, '0')}` } as const
      const data = { id: `f${named++}` }
      return { type: 'interaction.confirmed', at: earn.clock.now(), chainId: 31337, subject, data }
    })
    await inTransaction(on, async (tx) => {
      await tx`insert into facts (name) select unnest(${facts.map(({ data }) => (data as { id: string }).id)}::text[])`
      await tell(tx, facts)
    })
  }
  const isDrained = async () => {
    const [row] = await db<{ waits: boolean }[]>`
      select exists (select from webhook_queue where is_head and run_at <= ${earn.clock.now()}
        and (leased_until is null or leased_until <= ${earn.clock.now()}))
      or exists (select from webhooks, feed_end where webhooks.position < feed_end.position) as waits`
    return !row?.waits
  }
  /** Delivers in a process that dies at a statement, or until nothing is due. */
  const send = async (at: number) => {
    let isDead = false
    const own = dyingDb(db, at, () => {
      isDead = true
    })
    const deliveries = startDeliveries({ ...earn.ctx, db: own }, { tell, sealing, allowed: config.webhooksAllowed })
    await until('the sender to die, or to have nothing left to do', async () => isDead || (await isDrained()))
    await deliveries.stop()
    return isDead
  }

  while (dead < kills) {
    const writers = await Promise.all(
      [0, 1].map(() => dies(() => write(random.chance(0.3) ? dyingDb(db, random.int(0, 4)) : db))),
    )
    const movers = await Promise.all(
      [0, 1].map(() => dies(() => moveAll(random.chance(0.3) ? dyingDb(db, random.int(0, 6)) : db))),
    )
    dead += [...writers, ...movers].filter(Boolean).length
    await flushEvents(db)
    if (random.chance(0.3)) receiverDies = random.int(1, 3)
    if (await send(random.int(0, 25))) dead += 1
    // Leases of who died end, and failed tries become due.
    earn.clock.advance(random.chance(0.5) ? 61_000 : 7_200_000)
  }
  receiverDies = 0
  await until('the queue to be empty', async () => {
    await send(Number.POSITIVE_INFINITY)
    earn.clock.advance(86_400_000)
    const [row] = await db<{ left: number }[]>`select count(*) as left from webhook_queue where not is_dead`
    return row?.left === 0
  })

  const facts = await db<{ name: string }[]>`select name from facts`
  const feed = await db<{ name: string; id: string; position: number; subject: string }[]>`
    select data ->> 'id' as name, event_id as id, position, subject_id as subject from feed order by position`
  expect(feed.map(({ name }) => name).sort()).toEqual(facts.map(({ name }) => name).sort())
  for (const subject of new Set(feed.map((event) => event.subject))) {
    const own = taken.filter((event) => event.subject === subject)
    const expected = feed.filter((event) => event.subject === subject)
    // A repetition comes before any later event, with the same id.
    expect(own.map(({ position }) => position)).toEqual(own.map(({ position }) => position).sort((a, b) => a - b))
    expect([...new Set(own.map(({ id }) => id))]).toEqual(expected.map(({ id }) => id))
  }
  console.log(
    `${dead} deaths: ${feed.length} events, ${taken.length} deliveries, ${taken.length - feed.length} repetitions`,
  )
  await world.close()
}, 600_000)
