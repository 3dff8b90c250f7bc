import { chmod, readFile, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { tell } from '../../src/features/events/index.js'
import type { Fact } from '../../src/postgres/context.js'
import { migrate, readMigrations } from '../../src/postgres/migrate.js'
import { inTransaction } from '../../src/postgres/pool.js'
import { flushEvents } from '../flushEvents.js'
import { openServer, type Server } from './ownServer.js'
import { makeFolder } from './process.js'

const events = Number(process.env['REPLICATED'] ?? 100_000)
const batch = 1_000

let folder: string
let publisher: Server
let subscriber: Server

beforeAll(async () => {
  folder = await makeFolder('openearn-replication-')
  await chmod(folder, 0o755)
  publisher = await openServer(folder, 'publisher')
  subscriber = await openServer(folder, 'subscriber')
}, 120_000)
afterAll(async () => {
  await subscriber?.close()
  await publisher?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

/** The statements of a fence of docs/replication.md. */
async function readSql(name: string): Promise<string> {
  const text = await readFile(new URL('../../../docs/replication.md', import.meta.url), 'utf8')
  const found = new RegExp(`^\`\`\`sql ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error(`docs/replication.md has no statements of the ${name}`)
  return found
}

const at = new Date('2026-11-20T12:00:00Z')
const factOf = (index: number, type: string): Fact => ({
  ...{ type, at, chainId: 31337, late: index % 7 === 0 },
  subject: { kind: 'wallet', id: `0x${String(index % 50).padStart(40, '0')}` },
  data: { id: `e${index}`, blockNumber: index, text: 'ü"\\' },
})

/** Tells facts; each tenth transaction takes back the last hundred, as a reorganisation does. */
async function tellMany(from: number, to: number): Promise<void> {
  for (let start = from; start < to; start += batch) {
    const indexes = Array.from({ length: Math.min(batch, to - start) }, (_, index) => start + index)
    const isReorg = (start / batch) % 10 === 5
    await inTransaction(publisher.db, async (tx) => {
      await tell(
        tx,
        indexes.map((index) => factOf(index, 'interaction.confirmed')),
      )
      if (isReorg)
        await tell(
          tx,
          indexes.slice(-100).map((index) => factOf(index, 'interaction.retracted')),
        )
    })
  }
  await flushEvents(publisher.db)
}

const summaryOf = async ({ db }: Server) => {
  const [row] = await db<{ rows: number; sum: string }[]>`
    select count(*) as rows, md5(string_agg(f::text, '|' order by position)) as sum from feed f`
  return row
}

const caughtUp = () =>
  until(
    'the subscriber to have every event',
    async () => {
      const [ours] = await publisher.db<{ last: number }[]>`select position as last from feed_end`
      const [theirs] = await subscriber.db<{ last: number | null }[]>`select max(position) as last from feed`
      return ours?.last === theirs?.last
    },
    patient(120_000),
  )

it('a second database that subscribes as docs/replication.md says has every event, row for row, through a reorganisation and restarts of both, and keeps what is pruned', async () => {
  await migrate(publisher.db, await readMigrations())
  await tellMany(0, events / 4)
  await publisher.db.unsafe(await readSql('publisher'))
  const connection = `host=${publisher.socket} user=postgres dbname=postgres`
  for (const statement of (await readSql('subscriber')).replace('CONNECTION', connection).split(/;\n/))
    if (statement.trim()) await subscriber.db.unsafe(statement)
  await tellMany(events / 4, events / 2)
  await subscriber.stop()
  await tellMany(events / 2, (events * 3) / 4)
  await subscriber.start()
  await caughtUp()
  await publisher.stop()
  await publisher.start()
  await tellMany((events * 3) / 4, events)
  await caughtUp()
  const whole = await summaryOf(publisher)
  expect(await summaryOf(subscriber)).toEqual(whole)
  expect(whole?.rows).toBeGreaterThan(events)
  const [retracted] = await subscriber.db<{ count: number }[]>`
    select count(*) as count from feed where type = 'interaction.retracted'`
  expect(retracted?.count).toBeGreaterThan(0)
  await publisher.db`delete from feed where position < ${events / 2}`
  await tellMany(events, events + batch)
  await caughtUp()
  expect((await summaryOf(subscriber))?.rows).toBe((whole?.rows ?? 0) + batch)
}, 300_000)
