import type { LightMyRequestResponse } from 'fastify'
import { patience } from '../../contracts/test/patience.js'
import { type CreateKeyInput, createKey } from '../src/features/auth/index.js'
import { fakeClock } from '../src/kernel/clock.js'
import { type Config, parseConfig } from '../src/kernel/config.js'
import { newId } from '../src/kernel/ids.js'
import { silentLog } from '../src/kernel/log.js'
import type { Database, DatabaseTarget } from '../src/postgres/pool.js'
import type { ChainSettings } from '../src/rpc/chains.js'
import { operations, type ServiceContext } from '../src/server/operations.js'
import { openService, type Service } from '../src/server/service.js'
import { createShutdown } from '../src/server/shutdown.js'
import { openContract } from './contract.js'
import { openTestDatabase, type TestDatabase } from './database.js'

export type CallInput = {
  params?: Record<string, string | number>
  query?: Record<string, string | number | boolean> | string
  body?: unknown
  /** A key text; absent means the default publishable key; null means no key. */
  key?: string | null
  headers?: Record<string, string>
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type Answer = { status: number; body: any; headers: LightMyRequestResponse['headers']; text: string }

export type Earn = {
  ctx: ServiceContext
  db: Database
  /** How another process reaches the same database. */
  target: DatabaseTarget
  clock: ReturnType<typeof fakeClock>
  service: Service
  organizationId: string
  /** Default keys, both of the default organization. */
  publishable: string
  secret: string
  /** Calls an operation by its name. */
  call(operationId: string, input?: CallInput): Promise<Answer>
  /** Sends any request to the public listener. */
  request(method: string, url: string, input?: Omit<CallInput, 'params' | 'query'>): Promise<Answer>
  /** Makes a key of the default organization unless told otherwise. */
  key(input: Partial<CreateKeyInput> & Pick<CreateKeyInput, 'kind'>): Promise<string>
  organization(name?: string): Promise<string>
  distributor(id?: string, organizationId?: string): Promise<string>
  close(): Promise<void>
}

export type EarnOptions = {
  now?: string
  chains?: readonly ChainSettings[]
  config?: Partial<Config>
  /** Absent: a new one. */
  database?: TestDatabase
}

/** Every answer a test gets is held against the contract, whatever the test itself looks at. */
const contract = openContract(operations)

/** A busy machine decides no test: the service refuses nothing because it is late, and waits as long as this run may. */
const unhurried = { eventLoopDelayMaxMs: 0, patience }

/**
 * The whole service on a database of its own, called without sockets, with a clock that stands still at `now`. The
 * database holds one organization with a publishable and a secret key, and nothing else.
 */
export async function openEarn(options: EarnOptions = {}): Promise<Earn> {
  const { db, target, close } = options.database ?? (await openTestDatabase())
  const clock = fakeClock(options.now ?? '2026-11-20T12:00:00Z')
  const shutdown = createShutdown(silentLog)
  const config = { ...parseConfig({}, '/nonexistent'), ...unhurried, ...options.config }
  const base = { db, clock, log: silentLog, config }
  const service = await openService(base, { chains: options.chains ?? [], shutdown })
  const organizationId = await createOrganization(db, 'Default organization')
  const key: Earn['key'] = async (input) => (await createKey(base, { organizationId, ...input })).text
  const publishable = await key({ kind: 'publishable' })
  const secret = await key({ kind: 'secret' })
  const request: Earn['request'] = async (method, url, input = {}) => {
    const headers: Record<string, string> = { ...input.headers }
    if (input.key !== null) headers['x-api-key'] ??= input.key ?? publishable
    const raw = typeof input.body === 'string' || Buffer.isBuffer(input.body)
    if (input.body !== undefined) headers['content-type'] ??= 'application/json'
    const answer = await service.publicApp.inject({
      method: method as 'GET',
      url,
      headers,
      ...(input.body === undefined ? {} : { payload: raw ? (input.body as string) : JSON.stringify(input.body) }),
    })
    const json = String(answer.headers['content-type']).startsWith('application/json')
    const body = json && answer.rawPayload.length > 0 && !answer.headers['content-encoding'] ? answer.json() : undefined
    const { statusCode: status, headers: seen } = answer
    const problems = contract.check(contract.find(method, url)?.operationId, { status, headers: seen, body })
    if (problems.length > 0) throw new Error(`${method} ${url} ${status}: ${problems.join('; ')}\n${answer.body}`)
    return { status, body, headers: seen, text: answer.body }
  }
  return {
    // Tests that stand between the service and its node mean the requests.
    ctx: { ...service.ctx, chains: service.requestChains },
    db,
    target,
    clock,
    service,
    organizationId,
    publishable,
    secret,
    request,
    key,
    call: async (operationId, input = {}) => {
      const operation = operations.find((candidate) => candidate.operationId === operationId)
      if (!operation) throw new Error(`no operation ${operationId}`)
      const path = operation.path.replace(/\{([a-zA-Z]+)\}/g, (_, name) =>
        encodeURIComponent(String(input.params?.[name] ?? '')),
      )
      return request(operation.method, `${path}${formatQuery(input.query)}`, input)
    },
    organization: (name = 'Another organization') => createOrganization(db, name),
    distributor: async (id = `dist_${newId().slice(0, 8)}`, owner = organizationId) => {
      await db`insert into distributors (id, organization_id, name, active_from) values (${id}, ${owner}, ${id}, 'epoch')`
      await service.ctx.catalogue.refresh()
      return id
    },
    close: async () => {
      await service.publicApp.close()
      await service.opsApp.close()
      await shutdown.stop()
      await close()
    },
  }
}

function formatQuery(query: CallInput['query']): string {
  if (query === undefined) return ''
  if (typeof query === 'string') return `?${query}`
  return `?${new URLSearchParams(Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])))}`
}

async function createOrganization(db: Database, name: string): Promise<string> {
  const id = newId()
  await db`insert into organizations (id, name, organization_type) values (${id}, ${name}, 'distributor')`
  return id
}
