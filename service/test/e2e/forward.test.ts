import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { tell } from '../../src/features/events/index.js'
import { openTestDatabase, type TestDatabase, urlOf } from '../database.js'
import { flushEvents } from '../flushEvents.js'
import { makeFolder, runOpenEarn, startOpenEarn } from './process.js'

/** Debian's package nats-server has it. */
const isInstalled = (() => {
  try {
    execFileSync('nats-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Of each end. */
const kills = Number(process.env['FORWARD_KILLS'] ?? 3)
const portion = 50
const at = new Date('2026-11-20T12:00:00Z')
let folder: string
let database: TestDatabase
let port: number
let server: ChildProcess | undefined

const findPort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

async function startNats(): Promise<void> {
  const words = ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port)]
  server = spawn('nats-server', words, { stdio: 'ignore' })
  const opened = await until('the server to answer', () =>
    connect({ servers: `127.0.0.1:${port}`, reconnect: false }).catch(() => undefined),
  )
  await opened.close()
}

async function killNats(): Promise<void> {
  const gone = new Promise((resolve) => server?.once('exit', resolve))
  server?.kill('SIGKILL')
  await gone
}

let told = 0
async function tellSome(): Promise<void> {
  const facts = Array.from({ length: portion }, (_, index) => ({
    ...{ type: index % 5 === 0 ? 'interaction.retracted' : 'interaction.confirmed', at, chainId: 1 },
    subject: { kind: 'wallet' as const, id: `0x${String(index % 50).padStart(40, '0')}` },
    data: { number: told++, text: 'ü"\\' },
  }))
  await tell(database.db, facts)
  await flushEvents(database.db)
}

/** Messages in the stream; 0 while the server is away, too. */
async function countStored(): Promise<number> {
  const connection = await connect({ servers: `127.0.0.1:${port}`, reconnect: false }).catch(() => undefined)
  if (!connection) return 0
  const counted = async () => (await (await jetstreamManager(connection)).streams.info('openearn')).state.messages
  const messages = await counted().catch(() => 0)
  await connection.close()
  return messages
}

/** Everything in the stream, oldest first. */
async function readStream(): Promise<{ subject: string; id: string; event: { id: string; cursor: string } }[]> {
  const connection = await connect({ servers: `127.0.0.1:${port}` })
  const { state } = await (await jetstreamManager(connection)).streams.info('openearn')
  const consumer = await jetstream(connection).consumers.get('openearn')
  const messages = []
  while (messages.length < state.messages)
    for await (const message of await consumer.fetch({ max_messages: 1_000, expires: patient(5_000) })) {
      const event = message.json<{ id: string; cursor: string }>()
      messages.push({ subject: message.subject, id: message.headers?.get('Nats-Msg-Id') ?? '', event })
      if (messages.length === state.messages) break
    }
  await connection.close()
  return messages
}

/** Fails unless the stream has the events of the feed, in its order, each once. */
async function compare(): Promise<{ stored: number }> {
  const feed = await database.db<
    { type: string; id: string }[]
  >`select type, event_id as id from feed order by position`
  const stored = await readStream()
  expect(stored.map(({ event }) => event.id)).toEqual(feed.map(({ id }) => id))
  expect(stored.map(({ id }) => id)).toEqual(feed.map(({ id }) => id))
  expect(stored.map(({ subject }) => subject)).toEqual(feed.map(({ type }) => `openearn.events.${type}`))
  return { stored: stored.length }
}

const forward = (...words: string[]): [string[], Record<string, string>] => [
  ['events', 'forward', '--to', `nats://127.0.0.1:${port}`, ...words],
  { DATABASE_URL: urlOf(database.target) },
]

describe.skipIf(!isInstalled)('openearn events forward (left out where nats-server is not installed)', () => {
  beforeAll(async () => {
    folder = await makeFolder('openearn-nats-')
    database = await openTestDatabase()
    port = await findPort()
    await startNats()
  }, 120_000)
  afterAll(async () => {
    await killNats()
    await database?.close()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  it(
    `has each event once and in order in the stream, after ${kills} kills of either end`,
    async () => {
      let isOver = false
      const telling = (async () => {
        while (!isOver) {
          await tellSome()
          if (told % 1_000 === 0)
            await until('the stream to follow', async () => isOver || told - (await countStored()) < 5_000)
        }
      })()
      let running = startOpenEarn(...forward())
      for (let kill = 0; kill < kills * 2; kill++) {
        // Each kill meets a forwarder at work.
        const before = await countStored()
        await until('events to be forwarded', async () => (await countStored()) > before)
        if (kill % 2 === 0) {
          await running.kill()
          running = startOpenEarn(...forward())
        } else {
          await killNats()
          await startNats()
        }
      }
      const before = await countStored()
      await until('events to be forwarded', async () => (await countStored()) > before)
      isOver = true
      await telling
      await running.stop()
      expect(running.output()).toMatch(/forwarded \d+ events/)
      await runOpenEarn(...forward('--once'))
      const { stored } = await compare()
      console.log(`${stored} events, each once and in order, after ${kills} kills of either end`)
    },
    patient(kills * 30_000),
  )

  it('stores nothing twice where two forward to one stream', async () => {
    const pair = [startOpenEarn(...forward()), startOpenEarn(...forward())]
    for (let turn = 0; turn < 5; turn++) {
      const before = await countStored()
      await tellSome()
      await until('events to be forwarded', async () => (await countStored()) > before)
    }
    for (const each of pair) await each.stop()
    await runOpenEarn(...forward('--once'))
    await compare()
  })

  it('says in a sentence what is wrong with the server, the stream or the words, and no password', async () => {
    const refused = (words: string[]) => {
      const started = startOpenEarn(['events', ...words], { DATABASE_URL: urlOf(database.target) })
      return started.ended.then(({ code }) => ({ code, said: started.output() }))
    }
    const away = await refused(['forward', '--to', 'nats://me:hidden@127.0.0.1:1', '--once'])
    expect(away.code).toBe(2)
    expect(away.said).toMatch(/NATS/)
    expect(away.said).not.toMatch(/hidden|\n\s+at /)
    expect(await refused(['forward', '--to', 'http://me:hidden@x'])).toMatchObject({ code: 2 })
    expect(await refused(['forward'])).toMatchObject({ code: 2 })
    expect(await refused(['backward'])).toMatchObject({ code: 2 })
  })

  it('goes on nowhere by itself where the stream was emptied', async () => {
    const connection = await connect({ servers: `127.0.0.1:${port}` })
    await (await jetstreamManager(connection)).streams.purge('openearn')
    await connection.close()
    await expect(runOpenEarn(...forward('--once'))).rejects.toThrow('name --after')
    await runOpenEarn(...forward('--once', '--after', 'latest'))
    expect(await readStream()).toEqual([])
  })
})
