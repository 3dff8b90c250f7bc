import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../contracts/test/until.js'
import { type Database, openDatabase } from '../src/postgres/pool.js'
import { computeStateHash } from '../src/server/stateHash.js'
import { openBackedUp } from './cluster/backups.js'
import { hasBackups } from './cluster/programs.js'
import { distributorId, openBesideDevnet } from './e2e/besideDevnet.js'
import type { Json } from './e2e/client.js'
import { readDeposits, showEntry } from './e2e/deposits.js'
import { makeFolder } from './e2e/process.js'

const chainId = 31337
/** Of the devnet, too; each signs for a while. */
const secondKey = '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a'

let folder: string
let server: Awaited<ReturnType<typeof openBackedUp>>
let beside: Awaited<ReturnType<typeof openBesideDevnet>>
let client: ReturnType<typeof beside.clientOf>
let service: Awaited<ReturnType<typeof beside.startService>>
let publishable: string
let queue: Awaited<ReturnType<typeof beside.planAll>>
const sent: Hex[] = []

async function startService(): Promise<void> {
  service = await beside.startService()
  client = beside.clientOf(service.baseUrl, publishable)
}

async function withDatabase<T>(database: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ ...server.target, database }, { max: 1 })
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}
const hash = () => withDatabase('openearn', (db) => computeStateHash(db, chainId))

/** Entries of the ledger as the database has them, and not as a service tells them that goes on reading. */
const countEntries = () =>
  withDatabase('openearn', async (db) => (await db`select from interactions where chain_id = ${chainId}`).length)

async function deposit(count: number): Promise<void> {
  for (const { account, transaction } of queue.splice(0, count))
    sent.push((await client.send(account, transaction)).transactionHash)
  await until('every deposit to be in the ledger', async () => {
    const entries: Json[] = await client.listEntries(distributorId)
    return entries.length === sent.length
  })
}

/** The state while nobody writes: the service is stopped for as long. */
async function readState(work: () => Promise<unknown> = async () => undefined) {
  await service.stop()
  const state = { hash: await hash(), entries: await countEntries() }
  await work()
  return state
}

async function expectAll(): Promise<void> {
  const entries = await client.listEntries(distributorId)
  expect(entries.map(showEntry).sort()).toEqual((await readDeposits(client, sent)).sort())
}

beforeAll(async () => {
  folder = await makeFolder('openearn-backup-')
  server = await openBackedUp(join(folder, 'server'))
  await withDatabase('postgres', async (db) => {
    await db.unsafe(`create role openearn login password 'secret'`)
    await db.unsafe('create database openearn owner openearn')
  })
  beside = await openBesideDevnet('openearn-backup-devnet-')
  Object.assign(beside.env, { DATABASE_URL: `postgresql://openearn:secret@127.0.0.1:${server.port}/openearn` })
  publishable = await beside.fill()
  await startService()
  queue = await beside.planAll(client, 6)
}, 600_000)
afterAll(async () => {
  await service?.stop()
  await server?.stop()
  await beside?.close()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

describe.skipIf(!hasBackups)('a database that pgBackRest backs up by our configuration', () => {
  let states: Record<'named' | 'last', { hash: string; entries: number }>
  const targets: Record<string, string> = {}

  it('is backed up while the service writes, and restored after its disk is lost to the same state', async () => {
    await server.backrest('stanza-create')
    await server.backrest('check')
    await deposit(6)
    await server.backrest('--type=full', 'backup')
    const [{ backup }] = JSON.parse(await server.backrest('--output=json', 'info'))
    await deposit(4)
    const named = await readState(async () => {
      const [row] = await withDatabase(
        'openearn',
        (db) =>
          db`select block_number as block, clock_timestamp()::text as at from chain_cursors where chain_id = ${chainId}`,
      )
      Object.assign(targets, {
        set: backup.at(-1).label,
        name: `block-${chainId}-${row?.['block']}`,
        time: row?.['at'],
      })
      await withDatabase('postgres', (db) => db`select pg_create_restore_point(${targets['name'] ?? ''})`)
    })
    await startService()
    await deposit(6)
    await server.backrest('--type=incr', 'backup')
    await deposit(2)
    states = { named, last: await readState() }
    expect(states.last.entries).toBeGreaterThan(named.entries)
    // Whatever is written is in the repository.
    await server.backrest('check')
    await server.lose()
    await server.backrest('restore')
    await server.start()
    expect({ hash: await hash(), entries: await countEntries() }).toEqual(states.last)
    await startService()
    await expectAll()
  }, 600_000)

  it.each(['name', 'time'])(
    'is restored to a block by its %s as it was then, and reads what is missing from the node',
    async (type) => {
      await service.stop()
      await server.stop()
      // The newest backup before a time is found by itself; which one is before a name only the operator knows.
      const from = type === 'name' ? [`--set=${targets['set']}`] : []
      await server.backrest(
        ...from,
        `--type=${type}`,
        `--target=${targets[type]}`,
        '--target-action=promote',
        'restore',
      )
      await server.start()
      expect({ hash: await hash(), entries: await countEntries() }).toEqual(states.named)
      await startService()
      await until(
        'the entries of the later blocks',
        async () => (await client.listEntries(distributorId)).length === sent.length,
      )
      await expectAll()
      expect(await hash()).toBe(states.last.hash)
    },
    600_000,
  )

  it('keeps what a former attribution key signed once another signs, and shows both with their dates', async () => {
    const signers = async () => (await client.call('GET', '/v2/indexing-status/')).attributionSigners
    const [before] = await signers()
    expect(before.to).toBe(null)
    await service.stop()
    Object.assign(beside.env, { ATTRIBUTION_KEY: secondKey })
    await startService()
    // A plan that the former key signed, and entries of it.
    await deposit(1)
    const after = await signers()
    expect(after).toHaveLength(2)
    expect(after.map(({ to }: Json) => to === null).sort()).toEqual([false, true])
    const entries: Json[] = await client.listEntries(distributorId)
    expect(new Set(entries.map(({ attribution }) => attribution))).toEqual(new Set(['signed']))
  }, 600_000)
})
