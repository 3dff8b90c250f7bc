import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { buildProbeApp } from '../../../test/probes.js'
import { notFound } from '../../kernel/errors.js'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'

const common = { summary: '', description: '', tag: 'test', responses: { 200: T.Object({}) } } as const

const probes: Operation<Context>[] = [
  defineOperation({
    ...common,
    operationId: 'Spend',
    method: 'GET',
    path: '/v2/spend/{how}',
    access: 'publishable',
    cost: (query) => Number(query.get('units')?.[0] ?? 1),
    params: T.Object({ how: T.String({ pattern: '^[a-z]+$' }) }),
    responses: common.responses,
    run: async (_ctx, { how }) => {
      if (how === 'missing') throw notFound('nothing here')
      if (how === 'broken') throw new Error('broken')
      return { how }
    },
  }),
  defineOperation({
    ...common,
    operationId: 'Send',
    method: 'POST',
    path: '/v2/send/',
    access: 'publishable',
    cost: 5,
    body: T.Object({ amount: T.Optional(T.String()) }),
    run: async (_ctx, input) => input,
  }),
  defineOperation({
    ...common,
    operationId: 'Secret',
    method: 'GET',
    path: '/v2/secret',
    access: 'secret',
    cost: 1,
    run: async () => ({}),
  }),
  defineOperation({
    ...common,
    operationId: 'Open',
    method: 'GET',
    path: '/v2/open',
    access: 'public',
    cost: 0,
    run: async () => ({}),
  }),
  defineOperation({
    ...common,
    operationId: 'Work',
    method: 'GET',
    path: '/v2/pause/{ms}',
    access: 'public',
    cost: 0,
    params: T.Object({ ms: T.Integer() }),
    run: async (ctx: Context & { onWork?: (ms: number) => void }, { ms }) => {
      ctx.onWork?.(ms)
      if (ms === 99) throw notFound('nothing here')
      return {}
    },
  }),
]

let earn: Earn
let app: ReturnType<typeof buildProbeApp>
beforeAll(async () => {
  earn = await openEarn()
  app = buildProbeApp(earn.ctx, probes)
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

const get = (url: string, key: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers: { 'x-api-key': key, ...headers } })
const send = (key: string, payload: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v2/send',
    payload,
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
  })

/** Cost and hourly numbers of an answer: `[cost, limit, remaining, used]`. */
const numbers = (answer: { headers: Record<string, unknown> }) =>
  ['x-request-cost', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-used'].map((name) =>
    answer.headers[name] === undefined ? undefined : Number(answer.headers[name]),
  )

describe('limit headers', () => {
  it('stand on every keyed answer; what comes before the budget is free, what comes after is charged, a schema failure 1', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 100 })
    expect(numbers(await get('/v2/spend/ok?units=3', key))).toEqual([3, 100, 97, 3])
    const schema = await get('/v2/spend/123', key)
    expect([schema.statusCode, ...numbers(schema)]).toEqual([400, 1, 100, 96, 4])
    const missing = await get('/v2/spend/missing', key)
    expect([missing.statusCode, ...numbers(missing)]).toEqual([404, 1, 100, 95, 5])
    const broken = await get('/v2/spend/broken', key)
    expect([broken.statusCode, ...numbers(broken)]).toEqual([500, 1, 100, 94, 6])
    const json = await send(key, '{"amount":')
    expect([json.statusCode, ...numbers(json)]).toEqual([400, 1, 100, 93, 7])
    const dear = await get('/v2/spend/123?units=20', key)
    expect([dear.statusCode, ...numbers(dear)]).toEqual([400, 1, 100, 92, 8])
    const empty = await send(key, '{"amount":5}')
    expect([empty.statusCode, ...numbers(empty)]).toEqual([400, 1, 100, 91, 9])
    const free = await get('/v2/spend/123?units=0', key)
    expect([free.statusCode, ...numbers(free)]).toEqual([400, 0, 100, 91, 9])
    const paid = await get('/v2/spend/missing?units=2', key)
    expect([paid.statusCode, ...numbers(paid)]).toEqual([404, 2, 100, 89, 11])
    const denied = await get('/v2/secret', key)
    expect([denied.statusCode, ...numbers(denied)]).toEqual([403, 0, 100, 89, 11])
    const large = await send(key, `{"amount":"${'1'.repeat(70_000)}"}`)
    expect([large.statusCode, ...numbers(large)]).toEqual([413, 0, 100, 89, 11])
    const typed = await send(key, 'amount=1', { 'content-type': 'text/plain' })
    expect([typed.statusCode, ...numbers(typed)]).toEqual([415, 0, 100, 89, 11])
    const coded = await send(key, '{"amount":"1"}', { 'content-encoding': 'gzip' })
    expect([coded.statusCode, ...numbers(coded)]).toEqual([415, 0, 100, 89, 11])
    const unknown = await get('/v2/nothing', key)
    expect([unknown.statusCode, ...numbers(unknown)]).toEqual([404, 0, 100, 89, 11])
    expect(numbers(await get('/v2/spend/ok', key))).toEqual([1, 100, 88, 12])
  })

  it('show a refused origin what is left, and charge nothing for it', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 7, origins: ['https://app.example'] })
    const answer = await get('/v2/spend/ok', key, { origin: 'https://evil.example' })
    expect([answer.statusCode, ...numbers(answer)]).toEqual([403, 0, 7, 7, 0])
  })

  it('tell the month only for a key with a cap', async () => {
    const capped = await earn.key({ kind: 'publishable', monthlyUnits: 50 })
    expect((await get('/v2/spend/ok?units=10', capped)).headers).toMatchObject({
      'x-monthly-limit': '50',
      'x-monthly-usage': '10',
      'x-monthly-remaining': '40',
    })
    const free = await get('/v2/spend/ok', earn.publishable)
    expect(Object.keys(free.headers).filter((name) => name.startsWith('x-monthly'))).toEqual([])
  })
})

describe('429 RESOURCE_EXHAUSTED', () => {
  it('names the hourly budget and the seconds to the next hour, costs nothing and comes before the schema', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 2 })
    earn.clock.set('2026-11-20T12:59:30Z')
    await get('/v2/spend/ok?units=2', key)
    const answer = await get('/v2/spend/123', key)
    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED', context: { limit: 'hourly' } })
    expect(answer.headers['retry-after']).toBe('30')
    expect(numbers(answer)).toEqual([0, 2, 0, 2])
    earn.clock.set('2026-11-20T13:00:00Z')
    expect((await get('/v2/spend/ok', key)).statusCode).toBe(200)
  })

  it('is said of a body that does not fit, too, where the whole cost has no room', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 7 })
    const fails = async () => (await send(key, '{"amount":')).statusCode
    expect([await fails(), await fails(), await fails(), await fails()]).toEqual([400, 400, 400, 429])
    expect(numbers(await get('/v2/spend/ok?units=4', key))).toEqual([4, 7, 0, 7])
  })

  it('names ip for an address that has used its share of a key, which goes on serving every other one', async () => {
    const config = { ...earn.ctx.config, trustedProxies: ['10.0.0.0/8'] }
    const proxied = buildProbeApp({ ...earn.ctx, config }, probes)
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 100, addressShare: 0.2 })
    const from = (forwarded: string, url: string) =>
      proxied.inject({ url, remoteAddress: '10.0.0.1', headers: { 'x-api-key': key, 'x-forwarded-for': forwarded } })
    expect(numbers(await from('192.0.2.1', '/v2/spend/ok?units=15'))).toEqual([15, 20, 5, 15])
    const refused = await from('192.0.2.1', '/v2/spend/ok?units=6')
    expect([refused.statusCode, refused.json().context.limit, ...numbers(refused)]).toEqual([429, 'ip', 0, 20, 5, 15])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    const denied = await from('192.0.2.1', '/v2/secret')
    expect([denied.statusCode, ...numbers(denied)]).toEqual([403, 0, 20, 5, 15])
    for (const near of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2']) await from(near, '/v2/spend/ok?units=10')
    expect((await from('2001:db8:1:2::3', '/v2/spend/ok')).statusCode).toBe(429)
    expect(numbers(await from('2001:db8:1:3::1', '/v2/spend/ok'))).toEqual([1, 20, 19, 1])
    // What a client wrote itself stands left of what the proxy saw.
    expect(numbers(await from('198.51.100.9, 192.0.2.1', '/v2/spend/ok?units=5'))).toEqual([5, 20, 0, 20])
    // No address at all counts for the proxy's own.
    for (const forwarded of ['unknown', 'nobody']) await from(forwarded, '/v2/spend/ok?units=10')
    expect((await from('x'.repeat(300), '/v2/spend/ok')).statusCode).toBe(429)
    await proxied.close()
  })

  it('names the monthly cap and the seconds to the next month', async () => {
    earn.clock.set('2026-11-30T23:00:00Z')
    const key = await earn.key({ kind: 'publishable', monthlyUnits: 3 })
    await get('/v2/spend/ok?units=3', key)
    const answer = await get('/v2/spend/ok', key)
    expect(answer.json()).toMatchObject({ code: 429, context: { limit: 'monthly' } })
    expect(answer.headers['retry-after']).toBe('3600')
    earn.clock.set('2026-12-01T00:00:00Z')
    expect((await get('/v2/spend/ok', key)).statusCode).toBe(200)
  })

  it('limits 401s and open operations by address, and leaves good keys of that address alone', async () => {
    const limited = buildProbeApp({ ...earn.ctx, config: { ...earn.ctx.config, ipLimitPerMinute: 3 } }, probes)
    const from = (url: string, remoteAddress: string, headers: Record<string, string> = {}) =>
      limited.inject({ method: 'GET', url, remoteAddress, headers })
    const first = await from('/v2/spend/ok', '192.0.2.1')
    expect([first.statusCode, ...numbers(first)]).toEqual([401, 0, 3, 2, 1])
    expect(numbers(await from('/v2/open', '192.0.2.1'))).toEqual([0, 3, 1, 2])
    expect((await from('/v2/spend/ok', '192.0.2.1')).statusCode).toBe(401)
    for (const url of ['/v2/spend/ok', '/v2/open']) {
      const refused = await from(url, '192.0.2.1')
      expect(refused.statusCode).toBe(429)
      expect(refused.json()).toMatchObject({ code: 429, context: { limit: 'ip' } })
      expect(refused.headers['retry-after']).toBe('20')
      expect(numbers(refused)).toEqual([0, 3, 0, 3])
    }
    expect((await from('/v2/spend/ok', '192.0.2.1', { 'x-api-key': earn.publishable })).statusCode).toBe(200)
    expect((await from('/v2/open', '192.0.2.2')).statusCode).toBe(200)
    earn.clock.advance(20_000)
    expect((await from('/v2/open', '192.0.2.1')).statusCode).toBe(200)
    await limited.close()
  })

  it('lets an address pay for the computing an open operation did: one token, and one for each 50 ms', async () => {
    const limited = buildProbeApp({ ...earn.ctx, config: { ...earn.ctx.config, ipLimitPerMinute: 10 } }, probes)
    const work = (ms: number) => limited.inject({ url: `/v2/pause/${ms}`, remoteAddress: '192.0.2.9' })
    expect(numbers(await work(49))).toEqual([0, 10, 9, 1])
    expect(numbers(await work(100))).toEqual([0, 10, 6, 4])
    const failed = await work(99)
    expect([failed.statusCode, ...numbers(failed)]).toEqual([404, 0, 10, 4, 6])
    expect(numbers(await work(1_000))).toEqual([0, 10, 0, 10])
    const refused = await work(0)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '66'])
    await limited.close()
  })

  it('warns once of a proxy on this machine that it was not told of', async () => {
    const warned: unknown[] = []
    const log = { ...earn.ctx.log, warn: (...said: unknown[]) => warned.push(said) } as unknown as typeof earn.ctx.log
    const ask = async (trustedProxies: string[], remoteAddress: string, headers: Record<string, string>) => {
      const watched = buildProbeApp({ ...earn.ctx, log, config: { ...earn.ctx.config, trustedProxies } }, probes)
      for (let i = 0; i < 2; i++) await watched.inject({ url: '/v2/open', remoteAddress, headers })
      await watched.close()
      return warned.splice(0).length
    }
    expect(await ask([], '127.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe(1)
    expect(await ask([], '::1', { forwarded: 'for=192.0.2.1' })).toBe(1)
    expect(await ask([], '127.0.0.1', {})).toBe(0)
    expect(await ask([], '192.0.2.9', { 'x-forwarded-for': '192.0.2.1' })).toBe(0)
    expect(await ask(['127.0.0.1'], '127.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).toBe(0)
  })

  it('warns once of a proxy elsewhere, when it forwarded a hundred requests in a row, and names it', async () => {
    const warned: string[] = []
    const log = { ...earn.ctx.log, warn: (text: string) => warned.push(text) } as unknown as typeof earn.ctx.log
    const watched = buildProbeApp({ ...earn.ctx, log, config: { ...earn.ctx.config, ipLimitPerMinute: 0 } }, probes)
    const ask = async (count: number, remoteAddress: string, headers = {}) => {
      for (let i = 0; i < count; i++) await watched.inject({ url: '/v2/open', remoteAddress, headers })
    }
    const forwarded = { 'x-forwarded-for': '192.0.2.1' }
    // A caller may write the header itself; others who come by themselves show that there is no proxy.
    await ask(99, '10.0.0.9', forwarded)
    await ask(1, '192.0.2.7')
    await ask(99, '10.0.0.9', forwarded)
    expect(warned).toEqual([])
    await ask(2, '10.0.0.9', forwarded)
    expect(warned).toEqual([expect.stringContaining('set TRUSTED_PROXIES=10.0.0.9')])
    await watched.close()
  })

  it('believes X-Forwarded-For only from a trusted proxy', async () => {
    const config = { ...earn.ctx.config, ipLimitPerMinute: 1, trustedProxies: ['10.0.0.0/8'] }
    const limited = buildProbeApp({ ...earn.ctx, config }, probes)
    const from = (remoteAddress: string, forwarded: string) =>
      limited.inject({ url: '/v2/open', remoteAddress, headers: { 'x-forwarded-for': forwarded } })
    expect((await from('10.0.0.1', '192.0.2.1')).statusCode).toBe(200)
    expect((await from('10.0.0.1', '192.0.2.2')).statusCode).toBe(200)
    expect((await from('10.0.0.1', '192.0.2.2')).statusCode).toBe(429)
    expect((await from('198.51.100.1', '192.0.2.3')).statusCode).toBe(200)
    expect((await from('198.51.100.1', '192.0.2.4')).statusCode).toBe(429)
    await limited.close()
  })

  it('limits a caller whose name, as a trusted proxy passes it on, begins like loopback', async () => {
    const config = { ...earn.ctx.config, ipLimitPerMinute: undefined, trustedProxies: ['10.0.0.0/8'] }
    const limited = buildProbeApp({ ...earn.ctx, config }, probes)
    const from = async (forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded }
      return (await limited.inject({ url: '/v2/open', remoteAddress: '10.0.0.1', headers })).headers
    }
    expect(await from('127.0.0.1')).not.toHaveProperty('x-ratelimit-limit')
    for (const name of ['127.0.0.1.evil.example', '::ffff:127.evil.example'])
      expect(await from(name)).toMatchObject({ 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59' })
    await limited.close()
  })
})

describe('CORS', () => {
  const preflight = (url: string, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'OPTIONS',
      url,
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST', ...headers },
    })

  it('answers a preflight without a key, at no cost', async () => {
    for (const url of ['/v2/send', '/v2/send/']) {
      const answer = await preflight(url)
      expect(answer.statusCode).toBe(204)
      expect(answer.body).toBe('')
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers':
          'X-API-Key, Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, traceparent',
        'x-request-cost': '0',
      })
      expect(answer.headers.vary).toMatch(/Origin/)
    }
  })

  it('has no answer for a preflight of an unknown path, nor for OPTIONS that is none', async () => {
    expect((await preflight('/v2/nothing')).statusCode).toBe(404)
    const options = { method: 'OPTIONS', url: '/v2/send' } as const
    expect((await app.inject(options)).statusCode).toBe(404)
    expect((await app.inject({ ...options, headers: { origin: 'https://app.example' } })).statusCode).toBe(404)
  })

  it('lets a page read answers and errors, and the headers it needs', async () => {
    for (const [url, key] of [
      ['/v2/spend/ok', earn.publishable],
      ['/v2/spend/ok', 'nonsense'],
      ['/v2/nothing', earn.publishable],
    ] as const) {
      const { headers } = await get(url, key, { origin: 'https://app.example' })
      expect(headers['access-control-allow-origin']).toBe('https://app.example')
      expect(headers['access-control-allow-credentials']).toBeUndefined()
      for (const name of ['X-RateLimit-Remaining', 'X-Monthly-Usage', 'ETag', 'Retry-After', 'X-Request-Id'])
        expect(headers['access-control-expose-headers']).toContain(name)
    }
    expect((await get('/v2/spend/ok', earn.publishable)).headers['access-control-allow-origin']).toBeUndefined()
  })
})
