import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../contracts/test/until.js'
import { openDatabase } from '../src/postgres/pool.js'
import { type Cluster, openCluster, openProxies } from './cluster/patroni.js'
import { isInstalled, takePorts } from './cluster/programs.js'
import { distributorId, openBesideDevnet } from './e2e/besideDevnet.js'
import type { Json } from './e2e/client.js'
import { readDeposits, showEntry } from './e2e/deposits.js'
import { makeFolder, type Started, startOpenEarn, waitUntilReady } from './e2e/process.js'

/** How many of our own processes are killed under load, one every five seconds: 120 are ten minutes. */
const kills = Number(process.env['CLUSTER_KILLS'] ?? 12)
const pauseMs = 5_000
/** Looks before what heals is given up. */
const looksMax = 12_000
/** Bounds of the seconds until writes are well again. */
const boundSeconds = { kill: 30, switchover: 10 }

let folder: string
let cluster: Cluster
let proxies: Awaited<ReturnType<typeof openProxies>>
let beside: Awaited<ReturnType<typeof openBesideDevnet>>
let client: ReturnType<typeof beside.clientOf>
let load: ReturnType<typeof startLoad>
const roles = new Map<string, { words: string[]; env: Record<string, string>; started: Started }>()
const sent: Hex[] = []
let queue: Awaited<ReturnType<typeof beside.planAll>> = []

beforeAll(async () => {
  folder = await makeFolder('openearn-cluster-')
  cluster = await openCluster(join(folder, 'cluster'))
  const ports = await takePorts(6)
  const served = [0, 1, 2].map((index) => ({ port: ports[index] ?? 0, ops: ports[index + 3] ?? 0 }))
  proxies = await openProxies(join(folder, 'cluster'), cluster, served)
  await cluster.whole()
  await makeDatabase()
  beside = await openBesideDevnet('openearn-cluster-devnet-')
  const url = `postgresql://openearn:secret@127.0.0.1:${proxies.pooled}/openearn`
  const common = { ...beside.env, DATABASE_URL: url, DATABASE_POOL_SIZE: '4' }
  Object.assign(beside.env, { DATABASE_URL: url })
  const publishable = await beside.fill()
  const env = { ...common, OPERATOR_TOKEN: 't'.repeat(32) }
  for (const [index, { port, ops }] of served.entries())
    startRole(`serve ${index}`, ['serve'], { ...env, PORT: String(port), OPS_PORT: String(ops) })
  for (const name of ['watch 0', 'watch 1']) startRole(name, ['watch', '--chains'], env)
  for (const name of ['jobs', 'commit', 'solve']) startRole(name, [name], env)
  for (const { started } of roles.values()) await waitUntilReady(started)
  const baseUrl = `http://127.0.0.1:${proxies.api}`
  await until('haproxy to find a process that serves', () =>
    fetch(`${baseUrl}/v2/opportunities/`).then(({ status }) => status === 401),
  )
  client = beside.clientOf(baseUrl, publishable)
  queue = await beside.planAll(client, 12)
  load = startLoad(baseUrl, publishable)
}, 600_000)
afterAll(async () => {
  await load?.stop()
  for (const { started } of roles.values()) await started.kill()
  await proxies?.close()
  await cluster?.close()
  await beside?.close()
  if (process.env['CLUSTER_KEEP'] === undefined) await rm(folder, { recursive: true, force: true })
}, 120_000)

function startRole(name: string, words: string[], env: Record<string, string>): void {
  roles.set(name, { words, env, started: startOpenEarn(words, env) })
}

async function makeDatabase(): Promise<void> {
  const { primary } = proxies
  const admin = openDatabase(
    {
      host: '127.0.0.1',
      port: primary,
      database: 'postgres',
      username: 'postgres',
      password: cluster.passwords.superuser,
    },
    { max: 1 },
  )
  await until('the primary behind haproxy', () =>
    admin`select 1`.then(
      () => true,
      () => false,
    ),
  )
  await admin.unsafe(`create role openearn login password 'secret'`)
  await admin.unsafe('create database openearn owner openearn')
  await admin.end()
}

type Tally = { good: number; bad: string[]; down: number }

/** Asks for lists one after the other in four loops; each answer is charged, which is a write. */
function startLoad(baseUrl: string, key: string) {
  const tally: Tally = { good: 0, bad: [], down: 0 }
  let isStopped = false
  let isDown = false
  const loop = async () => {
    while (!isStopped) {
      const wasDown = isDown
      const said = await fetch(`${baseUrl}/v2/opportunities/?limit=5`, { headers: { 'x-api-key': key } }).then(
        async (answer) => `${answer.status}${answer.status === 200 ? '' : ` ${(await answer.text()).slice(0, 120)}`}`,
        (error: Error) => `no answer: ${error.cause ?? error}`,
      )
      if (said === '200') tally.good += 1
      else if (wasDown || isDown) tally.down += 1
      else tally.bad.push(said)
      // One that is refused is not asked again at once.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const loops = [loop(), loop(), loop(), loop()]
  return {
    tally,
    /** What fails meanwhile is of a stop of the database. */
    during: async <T>(work: () => Promise<T>): Promise<T> => {
      isDown = true
      try {
        return await work()
      } finally {
        isDown = false
      }
    },
    stop: async () => {
      isStopped = true
      await Promise.all(loops)
    },
  }
}

/** Sends a deposit, and waits until a request that is charged is answered and the ledger has the deposit. */
async function untilWell(): Promise<void> {
  const next = queue.shift()
  if (!next) throw new Error('no deposit left')
  const { transactionHash } = await client.send(next.account, next.transaction)
  sent.push(transactionHash)
  await until(
    'the deposit to be in the ledger',
    () =>
      client.listEntries(distributorId).then(
        (entries: Json[]) => entries.some(({ txHash }) => txHash === transactionHash),
        () => false,
      ),
    looksMax,
  )
}

/** The seconds from an accident until all is well again. */
async function timeOf(what: string, accident: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await load.during(async () => {
    await accident()
    await untilWell()
  })
  const seconds = (performance.now() - startedMs) / 1_000
  process.stdout.write(`${what}: well after ${seconds.toFixed(1)} s\n`)
  return seconds
}

const untilLedBy = (isRight: (name: string) => boolean) =>
  until(
    'another leader',
    async () => {
      const name = await cluster.leader()
      return name !== undefined && isRight(name)
    },
    looksMax,
  )

describe.skipIf(!isInstalled)('a cluster of Patroni behind haproxy and PgBouncer, with every role of ours', () => {
  it('takes writes again at most 30 s after its primary was killed', async () => {
    await untilWell()
    const before = (await cluster.leader()) ?? ''
    const seconds = await timeOf(`primary ${before} killed`, async () => {
      await cluster.killNode(before)
      await untilLedBy((name) => name !== before)
    })
    expect(seconds).toBeLessThanOrEqual(boundSeconds.kill)
    cluster.startNode(before)
    await cluster.whole()
  }, 600_000)

  it('takes writes again at most 10 s after a switchover', async () => {
    const before = (await cluster.leader()) ?? ''
    const to = (await cluster.members()).find(({ role }) => role === 'sync_standby')?.name ?? ''
    const seconds = await timeOf(`switchover from ${before} to ${to}`, () => cluster.switchover(before, to))
    expect(seconds).toBeLessThanOrEqual(boundSeconds.switchover)
    expect(await cluster.leader()).toBe(to)
    await cluster.whole()
  }, 600_000)

  it('goes on without a follower, without the leader of etcd, and after PgBouncer was killed twice', async () => {
    const follower = (await cluster.members()).find(({ role }) => role === 'sync_standby')?.name ?? ''
    await timeOf(`follower ${follower} killed`, () => cluster.killNode(follower))
    cluster.startNode(follower)
    await cluster.whole()
    const led = await cluster.leader()
    const etcd = await cluster.etcdLeader()
    await timeOf(`leader of etcd ${etcd?.name} killed`, async () => etcd?.program.kill('SIGKILL'))
    expect(await cluster.leader()).toBe(led)
    if (etcd) etcd.program = etcd.start()
    for (const time of ['first', 'second'])
      await timeOf(`PgBouncer killed, ${time} time`, () => proxies.restartBouncer())
  }, 600_000)

  it(`answers at least 99.9 % while ${kills} of our processes are killed one by one, and loses and doubles nothing`, async () => {
    const before = { good: load.tally.good, bad: load.tally.bad.length }
    const names = [...roles.keys()]
    for (let index = 0; index < kills; index++) {
      const name = names[(index * 5) % names.length] ?? ''
      const role = roles.get(name)
      if (!role) continue
      await role.started.kill()
      startRole(name, role.words, role.env)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (index % 6 === 0) await untilWell()
    }
    await untilWell()
    const [good, bad] = [load.tally.good - before.good, load.tally.bad.slice(before.bad)]
    process.stdout.write(`${kills} kills: ${good} answered, ${bad.length} not: ${[...new Set(bad)].join(' | ')}\n`)
    process.stdout.write(`in stops of the database ${load.tally.down} not answered; else ${load.tally.bad.length}\n`)
    expect(bad.length).toBeLessThanOrEqual(0.001 * (good + bad.length))
    const entries = await client.listEntries(distributorId)
    expect(entries.map(showEntry).sort()).toEqual((await readDeposits(client, sent)).sort())
    expect(new Set(entries.map(({ id }: Json) => id)).size).toBe(sent.length)
    for (const { started } of roles.values()) {
      await started.stop()
      expect((await started.ended).code).toBe(0)
    }
  }, 3_600_000)
})
