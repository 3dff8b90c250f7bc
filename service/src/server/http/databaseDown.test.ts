import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patient } from '../../../../contracts/test/patience.js'
import { until } from '../../../../contracts/test/until.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../../packages/embedded-postgres/src/embedded.js'
import { createKey } from '../../features/auth/index.js'
import { fakeClock, systemClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { newId } from '../../kernel/ids.js'
import { silentLog } from '../../kernel/log.js'
import { migrate, readMigrations } from '../../postgres/migrate.js'
import { openDatabase } from '../../postgres/pool.js'
import { operations } from '../operations.js'
import { openService, type Service } from '../service.js'
import { createShutdown } from '../shutdown.js'

let folder: string
let server: EmbeddedPostgres
let service: Service
let key: string
const shutdown = createShutdown(silentLog)
/** A server that is only slow is not taken for one that hangs. */
const bounds = { admissionMs: patient(1_000), operationMs: patient(2_000) }
const start = () => startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable: false })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openearn-away-'))
  await chmod(folder, 0o755)
  server = await start()
  const db = openDatabase(server.target, { max: 4 })
  shutdown.add('database', () => db.end({ timeout: 1 }))
  await migrate(db, await readMigrations())
  const clock = fakeClock('2026-11-20T12:00:00Z')
  const base = { db, clock, log: silentLog, config: parseConfig({}, '/nonexistent') }
  service = await openService(base, { chains: [], shutdown, bounds })
  const organizationId = newId()
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'Away', 'distributor')`
  key = (await createKey(base, { organizationId, kind: 'secret', permissions: ['organization:incentivize:streams'] }))
    .text
}, 60_000)

afterAll(async () => {
  await service?.publicApp.close()
  await service?.opsApp.close()
  await shutdown.stop()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const call = (method: string, path: string, headers: Record<string, string> = {}) =>
  service.publicApp.inject({
    method: method as 'GET',
    url: path.replace(/\{[a-zA-Z]+\}/g, 'x'),
    headers: { 'x-api-key': key, ...(method === 'POST' ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(method === 'POST' ? { payload: '{}' } : {}),
  })

/** Signals the server and all of its processes, so that it takes connections and answers nothing, or goes on. */
function signalServer(signal: 'SIGSTOP' | 'SIGCONT'): void {
  const parent = server.pid()
  if (parent === undefined) throw new Error('the database server is not running')
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' })
  for (const pid of [parent, ...children.split(/\s+/).filter(Boolean).map(Number)]) process.kill(pid, signal)
}

describe('503 UNAVAILABLE while the database hangs', () => {
  it('every keyed operation says so, soon without asking, and is back as soon as the server goes on', async () => {
    expect((await call('GET', '/v2/chains')).statusCode).toBe(200)
    signalServer('SIGSTOP')
    try {
      const first = await Promise.all([
        call('GET', '/v2/chains'),
        call('GET', '/v2/interactions/'),
        call('POST', '/v2/membership/agreement', { 'idempotency-key': 'hangs' }),
        call('GET', `/v2/attribution/0x${'a'.repeat(64)}`),
      ])
      for (const answer of first) {
        expect([answer.statusCode, answer.json().status]).toEqual([503, 'UNAVAILABLE'])
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
      // Known by now: nobody waits any more but for the one that tries, and while time stands still nobody does.
      vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(0)
      const connect = vi.spyOn(Client.prototype, 'connect')
      const keyed = operations.filter(({ access }) => access !== 'public')
      for (const { operationId, method, path } of keyed) {
        const answer = await call(method, path)
        expect([operationId, answer.statusCode]).toEqual([operationId, 503])
      }
      expect(connect).not.toHaveBeenCalled()
      expect((await service.opsApp.inject('/healthz')).statusCode).toBe(200)
      expect((await service.opsApp.inject('/readyz')).statusCode).toBe(503)
    } finally {
      vi.restoreAllMocks()
      signalServer('SIGCONT')
    }
    await until('an answer', async () => (await call('GET', '/v2/chains')).statusCode === 200)
    expect((await call('GET', '/v2/interactions/')).statusCode).toBe(200)
    expect((await call('GET', `/v2/attribution/0x${'a'.repeat(64)}`)).statusCode).toBe(200)
  }, 60_000)
})

describe('503 UNAVAILABLE while the database is away', () => {
  it('every keyed operation says so, serves nothing uncharged, and is back without a restart', async () => {
    const before = await call('GET', '/v2/chains')
    expect(before.statusCode).toBe(200)
    await server.stop()
    // What the catalogue knows is in memory: there it is the budget that cannot be charged.
    const keyed = operations.filter(({ access }) => access !== 'public')
    const calls = keyed.flatMap(({ operationId, method, path }) =>
      (method === 'POST' ? [{}, { 'idempotency-key': 'away' }] : [{}]).map(async (headers) => {
        const answer = await call(method, path, headers)
        expect([operationId, answer.statusCode]).toEqual([operationId, 503])
        expect(answer.json()).toMatchObject({ code: 503, status: 'UNAVAILABLE' })
        expect([answer.headers['retry-after'], answer.headers['x-request-cost']]).toEqual(['1', '0'])
        expect(answer.body).not.toMatch(/ECONN|ENOENT|socket|postgres/i)
      }),
    )
    await Promise.all(calls)
    expect((await call('GET', '/v2/nothing')).statusCode).toBe(404)
    expect((await service.opsApp.inject('/healthz')).statusCode).toBe(200)
    expect((await service.opsApp.inject('/readyz')).statusCode).toBe(503)

    server = await start()
    const answer = await until('an answer', async () => {
      const one = await call('GET', '/v2/chains')
      return one.statusCode === 200 && one
    })
    const used = Number(before.headers['x-ratelimit-used'])
    expect([answer.statusCode, answer.headers['x-ratelimit-used']]).toEqual([200, String(used + 1)])
    expect((await service.opsApp.inject('/readyz')).statusCode).toBe(200)
  }, 60_000)
})
