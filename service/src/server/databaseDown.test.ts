import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../features/auth/index.js'
import { fakeClock } from '../kernel/clock.js'
import { parseConfig } from '../kernel/config.js'
import { openDatabase } from '../kernel/database.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../kernel/embedded.js'
import { newId } from '../kernel/ids.js'
import { silentLog } from '../kernel/log.js'
import { migrate, readMigrations } from '../kernel/migrate.js'
import { createShutdown } from '../kernel/shutdown.js'
import { operations } from './operations.js'
import { openService, type Service } from './service.js'

let folder: string
let server: EmbeddedPostgres
let service: Service
let key: string
const shutdown = createShutdown(silentLog)
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
  service = await openService(base, { chains: [], shutdown })
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

describe('503 UNAVAILABLE while the database is away', () => {
  it('every keyed operation says so, serves nothing uncharged, and is back without a restart', async () => {
    const before = await call('GET', '/v2/chains')
    expect([before.statusCode, before.headers['x-ratelimit-used']]).toEqual([200, '1'])
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
    const deadline = performance.now() + 20_000
    let answer = await call('GET', '/v2/chains')
    while (answer.statusCode !== 200 && performance.now() < deadline) answer = await call('GET', '/v2/chains')
    expect([answer.statusCode, answer.headers['x-ratelimit-used']]).toEqual([200, '2'])
    expect((await service.opsApp.inject('/readyz')).statusCode).toBe(200)
  }, 60_000)
})
