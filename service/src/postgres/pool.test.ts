import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { silentLog } from '../kernel/log.js'
import { type Database, inTransaction, isDatabaseUnavailable, openDatabase } from './pool.js'

let folder: string
let server: EmbeddedPostgres
let db: Database

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-lost-'))
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: false, log: silentLog })
  db = openDatabase(server.target, { max: 4 })
  await db`create table facts (word text)`
}, 60_000)
afterAll(async () => {
  await db.end({ timeout: 1 })
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const refused = (error: unknown) => ({ unavailable: isDatabaseUnavailable(error) })

async function killServer(): Promise<void> {
  const before = server.pid() ?? 0
  process.kill(before, 'SIGKILL')
  while (server.pid() === before || server.pid() === undefined) await sleep(10)
}

async function waitUntilBack(): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const back = await db`select 1 as one`.catch(() => undefined)
    if (back) return
    await sleep(25)
  }
  throw new Error('the pool never came back')
}

describe('a transaction whose server is killed', () => {
  it('while it is idle: fails, writes nothing afterwards, and the pool comes back', async () => {
    let late: unknown
    const lost = inTransaction(db, async (tx) => {
      await tx`insert into facts values ('before')`
      await killServer()
      await waitUntilBack()
      try {
        await tx`insert into facts values ('after')`
      } catch (error) {
        late = refused(error)
      }
    }).catch(refused)
    expect(await lost).toEqual({ unavailable: true })
    await waitUntilBack()
    for (let tries = 0; late === undefined && tries < 200; tries++) await sleep(25)
    expect(late).toEqual({ unavailable: true })
    expect(await db`select word from facts`).toEqual([])
  }, 60_000)

  it('while statements run: fails, and every slot of the pool comes back', async () => {
    const running = Array.from({ length: 12 }, () =>
      inTransaction(db, async (tx) => {
        await tx`insert into facts values ('running')`
        await tx`select pg_sleep(5)`
      }).catch(refused),
    )
    await sleep(300)
    await killServer()
    // Those that still waited for a connection begin when the server is back, and succeed; those that ran fail.
    const outcomes = await Promise.all(running)
    const done = outcomes.filter((outcome) => outcome === undefined)
    expect(outcomes.filter((outcome) => outcome !== undefined)).toEqual(
      Array.from({ length: outcomes.length - done.length }, () => ({ unavailable: true })),
    )
    expect(done.length).toBeLessThanOrEqual(8)
    await waitUntilBack()
    await Promise.all(Array.from({ length: 12 }, () => db`select pg_sleep(0.05)`))
    expect(await db`select word from facts`).toHaveLength(done.length)
  }, 60_000)
})

describe('a statement that ends in the middle of its rows', () => {
  const one = () => openDatabase(server.target, { max: 1 })

  it('leaves nothing to the next statement on its connection when it fails', async () => {
    const single = one()
    await expect(single`select 1 / (3 - n) from generate_series(1, 5) as n`).rejects.toThrow('division by zero')
    expect([...(await single`select 7 as seven`)]).toEqual([{ seven: 7 }])
    await single.end()
  })

  it('leaves neither rows nor its error to the next statement when its connection is cut', async () => {
    const single = one()
    const cut = single`select n, case when n = 3 then pg_terminate_backend(pg_backend_pid()) end
      from generate_series(1, 5) as n`
    await expect(cut).rejects.toThrow()
    expect([...(await single`select 7 as seven`)]).toEqual([{ seven: 7 }])
    await expect(inTransaction(single, (tx) => tx`select pg_terminate_backend(pg_backend_pid())`)).rejects.toThrow()
    expect([...(await single`select 8 as eight`)]).toEqual([{ eight: 8 }])
    await single.end()
  })
})
