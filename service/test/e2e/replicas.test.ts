import { chmod, rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { examineReplicas } from '../../src/cli/doctorReplicas.js'
import { lastEventOf, tell } from '../../src/features/events/index.js'
import { historyOperations } from '../../src/features/history/index.js'
import { ledgerOperations } from '../../src/features/ledger/index.js'
import { createBudgets } from '../../src/features/limits/budgets.js'
import { markWrite } from '../../src/features/limits/store.js'
import { metricsOperations } from '../../src/features/metrics/index.js'
import { portfolioOperations } from '../../src/features/portfolio/index.js'
import { systemClock } from '../../src/kernel/clock.js'
import { silentLog } from '../../src/kernel/log.js'
import { migrate, readMigrations } from '../../src/postgres/migrate.js'
import { type Database, inTransaction, openDatabase } from '../../src/postgres/pool.js'
import type { Reader } from '../../src/postgres/reading.js'
import { openReading } from '../../src/postgres/replicaReads.js'
import { openReplicas } from '../../src/postgres/replicas.js'
import { flushEvents } from '../flushEvents.js'
import type { Earn } from '../harness.js'
import { type HistoryWorld, historyChain, historyNow, iso, onGrid, openHistoryWorld } from '../historyWorld.js'
import { openServer, openStandby, type Server, urlOfServer } from './ownServer.js'
import { makeFolder, startOpenEarn } from './process.js'
import { hasReplayed, pauseReplay } from './standby.js'

let folder: string
let primary: Server
let standby: Server
let other: Server
let world: HistoryWorld
let earn: Earn
/** Connections that a test counts or holds. */
let db: Database
const wallet = '0x00000000000000000000000000000000000000A1'

beforeAll(async () => {
  folder = await makeFolder('openearn-replicas-')
  await chmod(folder, 0o755)
  primary = await openServer(folder, 'primary')
  await migrate(primary.db, await readMigrations())
  standby = await openStandby(folder, 'standby', primary, { max_standby_streaming_delay: '10ms' })
  other = await openStandby(folder, 'other', primary)
  const target = { host: primary.socket, port: 5432, database: 'postgres', username: 'postgres' }
  db = openDatabase(target, { max: 10 })
  world = await openHistoryWorld({
    database: { db, target, close: () => db.end({ timeout: 5 }) },
    config: { databaseReadUrls: [urlOfServer(standby)] },
  })
  earn = world.earn
}, 180_000)
afterAll(async () => {
  await world?.close()
  await other?.close()
  await standby?.close()
  await primary?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const list = (key = earn.publishable, page = 1, address = wallet) =>
  earn.call('GetWalletActivity', { key, query: { addresses: address, page } })

/** A figure of the metrics, by its name and a part of its labels. */
async function metric(name: string, label: string): Promise<number | undefined> {
  const text = await earn.service.metrics.registry.metrics()
  const line = text.split('\n').find((each) => each.startsWith(`${name}{`) && each.includes(label))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}
const lag = () => metric('openearn_replica_lag_bytes', standby.socket)
const serves = () => metric('openearn_replica_serves', standby.socket)
const failures = () => metric('openearn_replica_failures_total', standby.socket)

/** Who serves a request, told by the counters. */
async function whoServes(request: () => Promise<{ status: number }>): Promise<Reader> {
  const count = async () => ({
    primary: (await metric('openearn_reads_total', 'primary')) ?? 0,
    replica: (await metric('openearn_reads_total', standby.socket)) ?? 0,
  })
  const before = await count()
  expect((await request()).status).toBe(200)
  const after = await count()
  expect(after.primary + after.replica - before.primary - before.replica).toBe(1)
  return after.replica > before.replica ? 0 : 'primary'
}

const whilePaused = (work: () => Promise<void>) => pauseReplay(standby, work)
const isCaughtUp = () => hasReplayed(standby, primary)
const becomesReplica = (request: () => Promise<{ status: number }>) =>
  until('the replica to serve', async () => (await whoServes(request)) === 0)

const agree = (key: string) =>
  earn.call('CreateMembershipAgreement', {
    key,
    body: { address: wallet, walletEcosystem: 'evm', url: 'https://app.example.com/earn' },
  })

describe('a replica', () => {
  it('serves every operation of ledger, history, metrics and portfolio, and none fails on it', async () => {
    await earn.distributor('served')
    const vaultAddress = await world.vault({ snapshots: onGrid(60, 86_400, () => ({})) })
    await until('all of it to be replicated', isCaughtUp)
    await becomesReplica(() => list())
    const range = { startDate: iso(historyNow - 86_400), endDate: iso(historyNow), step: 3_600 }
    const params = { distributorId: 'served', chainId: historyChain, vaultAddress, address: wallet }
    const of = [...ledgerOperations, ...historyOperations, ...metricsOperations, ...portfolioOperations]
    const served = new Map<string, Reader>()
    for (const { operationId } of of) {
      const query = { ...range, addresses: wallet, includeUsdDays: true, includeFlows: true, includeTopWallets: true }
      served.set(operationId, await whoServes(() => earn.call(operationId, { params, query })))
    }
    expect(Object.fromEntries(served)).toEqual(Object.fromEntries(of.map(({ operationId }) => [operationId, 0])))
    expect(await failures()).toBe(0)
  })

  it('is read by a role that may do nothing but read', async () => {
    await primary.db`create role lesser login`
    await primary.db`grant select on all tables in schema public to lesser`
    await until('the role to be there', isCaughtUp)
    const url = urlOfServer(standby).replace('postgres@', 'lesser@')
    const replicas = await openReplicas(db, { urls: [url], log: silentLog, lastEventOf })
    expect(replicas.list[0]?.state()).toMatchObject({ isReplica: true, lastEvent: 0 })
    await replicas.end()
  })

  it('serves a key only once it has replayed what that key wrote, and other keys meanwhile', async () => {
    const writer = await earn.key({ kind: 'publishable' })
    const reader = await earn.key({ kind: 'publishable' })
    await becomesReplica(() => list(writer))
    await becomesReplica(() => list(reader))
    await whilePaused(async () => {
      expect((await agree(writer)).status).toBe(200)
      expect(await whoServes(() => list(writer))).toBe('primary')
      expect(await whoServes(() => list(reader))).toBe(0)
      // The position is placed by the first charge after the write, and stays.
      expect(await whoServes(() => list(writer))).toBe('primary')
    })
    await becomesReplica(() => list(writer))
  })

  it('serves the key of a shared address only once it has replayed what that key wrote', async () => {
    const writer = await earn.key({ kind: 'publishable', addressShare: 0.5 })
    await becomesReplica(() => list(writer))
    await whilePaused(async () => {
      expect((await agree(writer)).status).toBe(200)
      expect(await whoServes(() => list(writer))).toBe('primary')
      expect(await whoServes(() => list(writer))).toBe('primary')
    })
    await becomesReplica(() => list(writer))
  })

  it('never lacks a row that its key wrote, while two keys write and read', async () => {
    await primary.db`create table written (key_id uuid primary key, turn integer not null)`
    const replicas = await openReplicas(db, { urls: [urlOfServer(standby)], log: silentLog, lastEventOf })
    const budgets = createBudgets({ db, clock: systemClock, lastEventOf })
    const served: Reader[] = []
    const turns = async (key: string) => {
      const [row] = await db<{ id: string }[]>`select id from api_keys where right(hint, 4) = ${key.slice(-4)}`
      const keyId = row!.id
      for (let turn = 1; turn <= 150; turn++) {
        await budgets.charge({ keyId, hourlyUnits: 1e6, monthlyUnits: null }, 1)
        await inTransaction(db, async (tx) => {
          await tx`
            insert into written values (${keyId}, ${turn}) on conflict (key_id) do update set turn = excluded.turn`
          await markWrite(tx, keyId)
        })
        for (let read = 0; read < 3; read++) {
          const charge = await budgets.charge({ keyId, hourlyUnits: 1e6, monthlyUnits: null }, 1)
          if (!charge.granted) throw new Error('the budget is used up')
          const onServed = (by: Reader) => served.push(by)
          const reading = openReading(db, replicas, {
            seen: charge.seen,
            preferred: 0,
            onServed,
            onFailed: () => served.pop(),
          })
          expect(await reading`select turn from written where key_id = ${keyId}`).toEqual([{ turn }])
        }
      }
    }
    try {
      await until('the table to be there', isCaughtUp)
      await replicas.look()
      await Promise.all([turns(await earn.key({ kind: 'publishable' })), turns(await earn.key({ kind: 'secret' }))])
      expect(new Set(served)).toEqual(new Set([0, 'primary']))
    } finally {
      await replicas.end()
    }
  })

  it('serves nobody before it has the last event that was handed out', async () => {
    await becomesReplica(() => list())
    await whilePaused(async () => {
      const subject = { kind: 'wallet' as const, id: wallet }
      const at = new Date('2026-11-20T12:00:00Z')
      await tell(primary.db, [{ type: 'interaction.confirmed', at, chainId: 1, data: {}, subject }])
      await flushEvents(primary.db)
      expect(await whoServes(() => list())).toBe('primary')
    })
    await becomesReplica(() => list())
  })

  it('is left out while it lags by more than a mebibyte, which the metrics tell in bytes', async () => {
    await becomesReplica(() => list())
    await whilePaused(async () => {
      await primary.db`select pg_logical_emit_message(false, 'test', repeat('x', 2000000)), pg_switch_wal()`
      await until('the lag to be told', async () => ((await lag()) ?? 0) > 2_000_000)
      expect(await serves()).toBe(0)
      expect(await whoServes(() => list())).toBe('primary')
    })
    await until('it to be read again', async () => (await serves()) === 1)
    expect(await lag()).toBeLessThan(1_048_577)
    await becomesReplica(() => list())
  })

  it('serves page 2 where it served page 1, and the primary serves page 2 of what it served', async () => {
    const behind = await earn.key({ kind: 'publishable' })
    const [first, second] = [`0x${'b'.repeat(40)}`, `0x${'c'.repeat(40)}`]
    await becomesReplica(() => list(behind, 1, first))
    await whilePaused(async () => {
      expect((await agree(behind)).status).toBe(200)
      expect(await whoServes(() => list(behind, 1, second))).toBe('primary')
    })
    await becomesReplica(() => list(behind, 1, first))
    expect(await whoServes(() => list(behind, 2, second))).toBe('primary')
    expect(await whoServes(() => list(behind, 3, second))).toBe('primary')
    expect(await whoServes(() => list(behind, 2, first))).toBe(0)
    expect(await whoServes(() => list(behind, 1, second))).toBe(0)
    expect(await whoServes(() => list(behind, 2, second))).toBe(0)
  })
})

describe('openearn doctor --production', () => {
  it('says of each replica how far it is, and takes the one that leads for well while another is read', async () => {
    await becomesReplica(() => list())
    const examine = async (...urls: string[]) => {
      const config = { ...earn.ctx.config, databaseReadUrls: urls }
      const [found] = await examineReplicas({ ...earn.ctx, db, config })
      return found
    }
    const [read, leads] = [urlOfServer(standby), urlOfServer(primary)]
    expect(await examineReplicas({ ...earn.ctx, config: { ...earn.ctx.config, databaseReadUrls: [] } })).toEqual([])
    expect(await examine(read, leads)).toMatchObject({
      well: true,
      detail: expect.stringMatching(/^\S+ is \d+ bytes behind; \S+ takes writes$/),
    })
    expect(await examine(leads)).toMatchObject({ well: false, detail: expect.stringMatching(/^\S+ takes writes$/) })
    const nowhere = `postgresql://postgres@localhost/postgres?host=${folder}/nowhere`
    expect(await examine(read, nowhere)).toMatchObject({
      well: false,
      detail: expect.stringMatching(/nowhere:5432\/postgres does not answer$/),
    })
    const config = { ...earn.ctx.config, databaseReadUrls: [read], databasePoolSize: 100 }
    expect((await examineReplicas({ ...earn.ctx, db, config }))[0]).toMatchObject({
      well: false,
      detail: expect.stringContaining('connections for the 101 of one serve'),
    })
  })
})

describe('a statement that a replica cancels', () => {
  it('is answered by the primary, as is all that follows in the request', async () => {
    const replicas = await openReplicas(db, { urls: [urlOfServer(standby)], log: silentLog, lastEventOf })
    try {
      await db`create table crowded (n integer)`
      await db`insert into crowded values (7)`
      const [row] = await db<{ at: string }[]>`select pg_current_wal_flush_lsn()::text as at`
      const seen = { lastWrite: row!.at, lastEvent: 0 }
      await until('the table to be there', async () => {
        await replicas.look()
        return (await standby.db`select from pg_class where relname = 'crowded'`).length === 1
      })
      const served: Reader[] = []
      const failed: number[] = []
      const reading = openReading(db, replicas, {
        ...{ seen, preferred: 0, onServed: (by) => served.push(by), onFailed: (place) => failed.push(place) },
      })
      const slow = reading<{ n: number }[]>`
        select c.n, (select count(*) from (
          select generate_series(1, case when pg_is_in_recovery() then 1000000000 else 0 end)) counted)
        from crowded c`
      const told = slow.then((rows) => rows[0]?.n)
      await until('the statement to run there', async () => {
        const rows =
          await standby.db`select from pg_stat_activity where query like '%from crowded c%' and state = 'active'
          and pid <> pg_backend_pid()`
        return rows.length > 0
      })
      await db`truncate crowded`
      await db`insert into crowded values (8)`
      expect(await told).toBe(8)
      const [where] = await reading<{ is: boolean }[]>`select pg_is_in_recovery() as is`
      expect(where).toEqual({ is: false })
      expect({ served, failed }).toEqual({ served: [0, 'primary'], failed: [0] })
    } finally {
      await replicas.end()
    }
  })
})

describe('a replica that hangs', () => {
  it('is given up by the statements that wait for it as soon as it does not say how far it is', async () => {
    const urls = [urlOfServer(standby)]
    const replicas = await openReplicas(db, { urls, log: silentLog, lastEventOf, lookMs: 20, readMs: 3_600_000 })
    const stopped: number[] = []
    try {
      const served: Reader[] = []
      const reading = openReading(db, replicas, {
        ...{ seen: { lastWrite: null, lastEvent: 0 }, preferred: 0 },
        ...{ onServed: (by: Reader) => served.push(by), onFailed: () => undefined },
      })
      const slow = reading`
        select (select count(*) from (select generate_series(1, case when pg_is_in_recovery() then 1000000000000 else 7 end)) n)`
      const told = slow.then((rows) => rows)
      await until('the statement to run there', async () => {
        const rows = await standby.db<{ pid: number; isSlow: boolean }[]>`
          select pid, query like '%generate_series%' as "isSlow" from pg_stat_activity
          where backend_type = 'client backend' and application_name like 'openearn%' and pid <> pg_backend_pid()`
        const running = rows.filter(({ isSlow }) => isSlow)
        if (running.length === 1) stopped.push(...rows.map(({ pid }) => pid))
        return running.length === 1
      })
      for (const pid of stopped) process.kill(pid, 'SIGSTOP')
      expect(await told).toEqual([{ count: 7 }])
      expect(served).toEqual([0, 'primary'])
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT')
      // The statement that was given up would go on, and outlive its server.
      await standby.db`select pg_terminate_backend(pid) from unnest(${stopped}::int[]) pid`
      await replicas.end()
    }
  })
})

describe('a server that is no replica', () => {
  it('is refused with a sentence where it is another cluster, or another database of the same one', async () => {
    const stranger = await openServer(folder, 'stranger')
    try {
      await migrate(stranger.db, await readMigrations())
      await db`create database elsewhere`
      const elsewhere = openDatabase({ url: `postgresql://postgres@localhost/elsewhere?host=${primary.socket}` })
      await elsewhere`create table feed_end as select 0::bigint as position`
      await elsewhere.end()
      await until('it to be replicated', async () => {
        const [there] = await standby.db`select from pg_database where datname = 'elsewhere'`
        return there !== undefined && (await isCaughtUp())
      })
      for (const url of [urlOfServer(stranger), urlOfServer(standby).replace('/postgres?', '/elsewhere?')])
        await expect(openReplicas(db, { urls: [url], log: silentLog, lastEventOf })).rejects.toThrow(
          /^DATABASE_READ_URLS: \S+ is no replica of DATABASE_URL but another database; name servers that replicate it$/,
        )
      const env = { DATABASE_URL: urlOfServer(primary), DATABASE_READ_URLS: urlOfServer(stranger) }
      const { ended, output } = startOpenEarn(['serve'], env)
      expect(await ended).toEqual({ code: 2, signal: null })
      expect(output()).toMatch(/openearn: DATABASE_READ_URLS: \S+ is no replica of DATABASE_URL/)
    } finally {
      await stranger.close()
    }
  })

  it('is refused where it is no url of PostgreSQL', async () => {
    for (const bad of ['replica.example', 'http://replica.example/earn'])
      await expect(openReplicas(db, { urls: [bad], log: silentLog, lastEventOf })).rejects.toThrow(
        'DATABASE_READ_URLS must be urls of PostgreSQL separated by commas',
      )
  })

  it('is left out where it is the primary itself, or does not answer', async () => {
    const urls = [urlOfServer(primary), `postgresql://postgres@localhost/postgres?host=${folder}/nowhere`]
    const replicas = await openReplicas(db, { urls, log: silentLog, lastEventOf })
    expect(replicas.list.map(({ state }) => state()?.isReplica)).toEqual([false, undefined])
    await replicas.end()
  })
})

describe('a replica that dies or is promoted', () => {
  it('costs no request, and serves again when it is back', async () => {
    await becomesReplica(() => list())
    const asking = async () => {
      for (let turn = 0; turn < 40; turn++) expect((await list()).status).toBe(200)
    }
    const [asked] = [asking()]
    await standby.stop('SIGKILL')
    await asked
    await asking()
    expect(await whoServes(() => list())).toBe('primary')
    expect(await lag()).toBeUndefined()
    expect(await serves()).toBe(0)
    await standby.start()
    await becomesReplica(() => list())
  })

  it('is left out where it is promoted, and so is one that goes on following the old primary', async () => {
    await becomesReplica(() => list())
    await standby.db`select pg_promote()`
    await until('it to be left out', async () => (await serves()) === 0)
    expect(await whoServes(() => list())).toBe('primary')
    const replicas = await openReplicas(standby.db, { urls: [urlOfServer(other)], log: silentLog, lastEventOf })
    expect(replicas.list[0]?.state()?.isReplica).toBe(false)
    await replicas.end()
  })
})
