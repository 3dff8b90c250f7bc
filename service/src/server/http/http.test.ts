import type { AddressInfo } from 'node:net'
import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { sendRaw } from '../../../test/sendRaw.js'
import { createAuthenticate } from '../../features/auth/index.js'
import { openLimits } from '../../features/limits/index.js'
import { notFound, unavailable } from '../../kernel/errors.js'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { List } from '../../kernel/wire.js'
import { answerClientError } from './errors.js'
import { buildPublicApp } from './http.js'

const responses = { 200: T.Object({}) }
const text = { summary: '', description: '', tag: 'test' }

const probes: Operation[] = [
  defineOperation({
    ...text,
    operationId: 'Echo',
    method: 'GET',
    path: '/v2/echo/{name}',
    access: 'publishable',
    cost: (query) => (query.has('twice') ? 2 : 1),
    params: T.Object({ name: T.String({ pattern: '^[a-z]+$' }) }),
    query: T.Object({ count: T.Optional(T.Integer({ minimum: 1 })), items: T.Optional(List()) }),
    responses,
    run: async (_ctx, input, caller) => ({ ...input, kind: caller.kind }),
  }),
  defineOperation({
    ...text,
    operationId: 'Post',
    method: 'POST',
    path: '/v2/post/',
    access: 'publishable',
    cost: 1,
    body: T.Object({ amount: T.String({ pattern: '^[0-9]+$' }) }),
    responses,
    run: async (_ctx, input) => input,
  }),
  defineOperation({
    ...text,
    operationId: 'Optional',
    method: 'POST',
    path: '/v2/optional',
    access: 'publishable',
    cost: 1,
    body: T.Object({ note: T.Optional(T.String()) }),
    responses,
    run: async (_ctx, input) => input,
  }),
  defineOperation({
    ...text,
    operationId: 'Named',
    method: 'POST',
    path: '/v2/named/{name}',
    access: 'publishable',
    cost: 1,
    params: T.Object({ name: T.String() }),
    body: T.Object({ note: T.Optional(T.String()) }),
    responses,
    run: async (_ctx, { name, note }) => ({ name, note }),
  }),
  defineOperation({
    ...text,
    operationId: 'SecretOnly',
    method: 'GET',
    path: '/v2/secret',
    access: 'secret',
    permission: 'organization:incentivize:streams',
    cost: 1,
    responses,
    run: async () => ({ ok: true }),
  }),
  defineOperation({
    ...text,
    operationId: 'Open',
    method: 'GET',
    path: '/v2/open/{how}',
    access: 'public',
    cost: 0,
    params: T.Object({ how: T.String() }),
    responses,
    run: async (_ctx, { how }) => {
      if (how === 'missing') throw notFound('nothing here')
      if (how === 'waiting') throw unavailable('later', { retryAfterSeconds: 1.2, context: { retryable: true } })
      if (how === 'closed') throw unavailable('nobody knows how long')
      if (how === 'broken') throw new Error('select secret from /home/someone at http://user:pass@node/key')
      return { how }
    },
  }),
]

let earn: Earn
let app: ReturnType<typeof buildPublicApp>

beforeAll(async () => {
  earn = await openEarn()
  app = buildPublicApp({
    ctx: earn.ctx,
    operations: probes as never,
    authenticate: createAuthenticate(earn.ctx),
    limits: openLimits(earn.ctx),
  })
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

const get = (url: string, headers: Record<string, string> = { 'x-api-key': earn.publishable }) =>
  app.inject({ method: 'GET', url, headers })
const post = (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'x-api-key': earn.publishable, 'content-type': 'application/json', ...headers },
  })

describe('200', () => {
  it('hands path, query and body members to the operation, with and without a trailing slash', async () => {
    for (const url of ['/v2/echo/abc?count=2&items=a,b', '/v2/echo/abc/?count=2&items=a,b&unknown=1&COUNT=9']) {
      const answer = await get(url)
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ name: 'abc', count: 2, items: ['a', 'b'], kind: 'publishable' })
      expect(answer.headers['content-type']).toBe('application/json')
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect((await post('/v2/post', '{"amount":"7","unknown":null}')).json()).toMatchObject({ amount: '7' })
  })

  it('says what each answer cost', async () => {
    expect((await get('/v2/echo/abc')).headers['x-request-cost']).toBe('1')
    expect((await get('/v2/echo/abc?twice=1')).headers['x-request-cost']).toBe('2')
    expect((await get('/v2/echo/abc?count=x')).headers['x-request-cost']).toBe('1')
  })

  it('takes an empty body for {} where every member is optional', async () => {
    expect((await post('/v2/optional', '')).statusCode).toBe(200)
    expect((await post('/v2/post', '')).statusCode).toBe(400)
  })

  it('hands on declared body members only, so that none takes the place of one in the path', async () => {
    const answer = await post('/v2/named/abc', '{"name":5,"note":"x","other":1,"__proto__":{"note":"y"}}')
    expect(answer.json()).toEqual({ name: 'abc', note: 'x' })
    expect((await post('/v2/named/abc', '{"__proto__":{"note":5}}')).json()).toEqual({ name: 'abc' })
  })
  it('takes the key from Authorization as well, and the same key twice', async () => {
    const bearer = { authorization: `Bearer ${earn.publishable}` }
    expect((await get('/v2/echo/abc', bearer)).statusCode).toBe(200)
    expect((await get('/v2/echo/abc', { ...bearer, 'x-api-key': earn.publishable })).statusCode).toBe(200)
  })

  it('ignores a bad key where none is needed', async () => {
    expect((await get('/v2/open/x', { 'x-api-key': 'nonsense' })).json()).toEqual({ how: 'x' })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('names every violation by its place', async () => {
    const answer = await get('/v2/echo/ABC?count=1.5&items=a')
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
    expect(answer.json().context.violations.map((violation: { path: string }) => violation.path)).toEqual([
      'name',
      'count',
    ])
  })

  it.each([
    ['a JSON number for a raw amount', '{"amount":7}'],
    ['a missing member', '{}'],
    ['an array', '[]'],
    ['text that is not JSON', '{"amount":'],
    ['null', 'null'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['NUL inside a string', '{"amount":"1","note":"a\\u0000b"}'],
  ])('refuses %s', async (_name, payload) => {
    const answer = await post('/v2/post', payload)
    expect(answer.statusCode).toBe(400)
    expect(Object.keys(answer.json())).toEqual(['code', 'status', 'error', 'context'])
  })

  it('refuses a path with a broken escape', async () => {
    const answer = await get('/v2/echo/%E0%A4%A')
    expect(answer.statusCode).toBe(400)
    expect(answer.json().status).toBe('INVALID_ARGUMENT')
    expect(answer.headers).toMatchObject({ 'x-request-cost': '0', 'x-request-id': expect.any(String) })
  })
})

describe('401 UNAUTHORIZED', () => {
  it.each([
    ['no key', {}],
    ['a malformed key', { 'x-api-key': 'pk_live_x' }],
    ['an unknown key', { 'x-api-key': 'pk_live_GHPb2DhYDddw4xtO0yghV4f9vSbuiS0x18tvku' }],
    ['another scheme', { authorization: 'Basic abc' }],
  ])('refuses %s with one and the same text', async (_name, headers) => {
    const answer = await get('/v2/echo/abc', headers)
    expect(answer.statusCode).toBe(401)
    expect(answer.json()).toMatchObject({ code: 401, status: 'UNAUTHORIZED', context: {} })
    expect(answer.json().error).toMatch(/^the API key is missing, malformed/)
    expect(answer.headers['x-request-id']).toBeDefined()
  })

  it('refuses two different keys', async () => {
    const answer = await get('/v2/echo/abc', {
      'x-api-key': earn.publishable,
      authorization: `Bearer ${earn.secret}`,
    })
    expect(answer.statusCode).toBe(401)
  })

  it('refuses an expired key, and a revoked one within 5 seconds', async () => {
    const expiring = await earn.key({ kind: 'publishable', expiresAt: new Date('2026-11-20T12:00:01Z') })
    const revoked = await earn.key({ kind: 'publishable' })
    expect((await get('/v2/echo/abc', { 'x-api-key': expiring })).statusCode).toBe(200)
    expect((await get('/v2/echo/abc', { 'x-api-key': revoked })).statusCode).toBe(200)
    await earn.db`update api_keys set revoked_at = now() where hint = ${`${revoked.slice(0, 12)}…${revoked.slice(-4)}`}`
    earn.clock.advance(4_900)
    expect((await get('/v2/echo/abc', { 'x-api-key': expiring })).statusCode).toBe(401)
    expect((await get('/v2/echo/abc', { 'x-api-key': revoked })).statusCode).toBe(401)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a publishable key, and a secret key without the permission', async () => {
    const permitted = await earn.key({ kind: 'secret', permissions: ['organization:incentivize:streams'] })
    expect((await get('/v2/secret')).json()).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' })
    expect((await get('/v2/secret', { 'x-api-key': earn.secret })).statusCode).toBe(403)
    expect((await get('/v2/secret', { 'x-api-key': permitted })).statusCode).toBe(200)
  })

  it('holds a key to its origins', async () => {
    const listed = await earn.key({ kind: 'publishable', origins: ['https://app.example'] })
    const from = (key: string, origin: string) => get('/v2/echo/abc', { 'x-api-key': key, origin })
    expect((await from(listed, 'https://app.example')).statusCode).toBe(200)
    expect((await from(listed, 'https://evil.example')).statusCode).toBe(403)
    expect((await from(earn.publishable, 'https://any.example')).statusCode).toBe(200)
    expect((await from(earn.secret, 'https://any.example')).statusCode).toBe(403)
  })
})

describe('HEAD', () => {
  it('is answered as its GET without the body: same status, headers, cost and budget', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 100 })
    const ask = (method: 'GET' | 'HEAD', url: string, given: string | null = key) =>
      app.inject({ method, url, headers: given === null ? {} : { 'x-api-key': given } })
    const moving = ['x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-used', 'date']
    for (const [url, status] of [
      ['/v2/echo/abc?twice=1', 200],
      ['/v2/echo/abc/', 200],
      ['/v2/echo/UPPER', 400],
      ['/v2/secret', 403],
    ] as const) {
      const [got, head] = [await ask('GET', url), await ask('HEAD', url)]
      const still = ({ headers }: typeof got) => Object.entries(headers).filter(([name]) => !moving.includes(name))
      expect([got.statusCode, head.statusCode]).toEqual([status, status])
      expect(still(head)).toEqual(still(got))
      expect(Number(head.headers['content-length'])).toBe(got.rawPayload.length)
      const used = (answer: typeof got) => Number(answer.headers['x-ratelimit-used'])
      expect(used(head) - used(got)).toBe(Number(got.headers['x-request-cost']))
    }
    expect((await ask('HEAD', '/v2/echo/abc', null)).statusCode).toBe(401)
  })
})

describe('404 NOT_FOUND', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/v1/opportunities'],
    ['GET', '/v2/nothing'],
    ['POST', '/v2/echo/abc'],
    ['DELETE', '/v2/post'],
    ['HEAD', '/v2/nothing'],
    ['HEAD', '/v2/post'],
    ['GET', '/healthz'],
    ['GET', '/openapi.json'],
  ])('%s %s needs no key to be unknown', async (method, url) => {
    const answer = await app.inject({ method: method as 'GET', url })
    expect(answer.statusCode).toBe(404)
    if (method !== 'HEAD') expect(answer.json()).toMatchObject({ code: 404, status: 'NOT_FOUND', context: {} })
  })
})

describe('413, 415, 431', () => {
  it('refuses a body above 64 KiB and a body of another type', async () => {
    const big = await post('/v2/post', `{"amount":"${'1'.repeat(70_000)}"}`)
    expect(big.statusCode).toBe(413)
    expect(big.json()).toMatchObject({ code: 413, status: 'PAYLOAD_TOO_LARGE' })
    // Whoever sends it would otherwise hold the connection by going on.
    expect(big.headers['connection']).toBe('close')
    const form = await post('/v2/post', 'amount=1', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(form.statusCode).toBe(415)
    expect(form.json()).toMatchObject({ code: 415, status: 'UNSUPPORTED_MEDIA_TYPE' })
  })

  it('answers parser errors in the same shape', async () => {
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const port = Number(new URL(address).port)
    const head = await sendRaw(port, `GET /v2/open/x HTTP/1.1\r\nHost: a\r\nX-Big: ${'a'.repeat(70_000)}\r\n\r\n`)
    expect(head).toMatch(/^HTTP\/1.1 431 /)
    expect(JSON.parse(head.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 431, status: 'INVALID_ARGUMENT' })
    const nonsense = await sendRaw(port, 'NONSENSE\r\n\r\n')
    expect(nonsense).toMatch(/^HTTP\/1.1 400 /)
    expect(nonsense).toMatch(/X-Request-Id: [0-9a-f-]{36}/)
    const homeless = await sendRaw(port, 'GET /v2/open/x HTTP/1.1\r\nConnection: close\r\n\r\n')
    expect(homeless).toMatch(/^HTTP\/1.1 400 /)
    expect(homeless).toMatch(/x-request-id: [0-9a-f-]{36}/)
    expect(JSON.parse(homeless.split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  it('sends no body in answer to a HEAD', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 100 })
    const { port } = app.server.address() as AddressInfo
    const lines = ['HEAD /v2/echo/abc HTTP/1.1', 'Host: a', `X-API-Key: ${key}`, 'Connection: close', '', '']
    const [head = '', body] = (await sendRaw(port, lines.join('\r\n'))).split('\r\n\r\n')
    expect([head.split('\r\n')[0], body]).toEqual(['HTTP/1.1 200 OK', ''])
    expect(Number(/^content-length: (\d+)$/im.exec(head)?.[1])).toBeGreaterThan(0)
  })

  it('refuses one header value above 8 KiB, in one piece or in several, and takes a query of 1,000 addresses', async () => {
    const { port } = app.server.address() as AddressInfo
    const ask = (path: string, ...lines: string[]) =>
      sendRaw(port, [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n'))
    const refused = [
      await ask('/v2/open/x', `Accept-Encoding: ${'a'.repeat(60_000)}`),
      await ask('/v2/nothing', `X-Any: ${'a'.repeat(8_193)}`),
      await ask('/v2/echo/abc', `X-API-Key: ${'a'.repeat(8_193)}`),
      await ask('/v2/open/x', ...Array.from({ length: 9 }, () => `Accept-Encoding: ${'a'.repeat(1_000)}`)),
    ]
    for (const answer of refused) {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1.1 431 /)
      expect(head).toMatch(/^x-request-cost: 0$/im)
      expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/im)
      const { error, ...rest } = JSON.parse(body)
      expect(rest).toEqual({ code: 431, status: 'INVALID_ARGUMENT', context: {} })
      expect(error).toMatch(/8192 bytes/)
    }
    expect(await ask('/v2/open/x', `Accept-Encoding: ${'a'.repeat(8_192)}`)).toMatch(/^HTTP\/1.1 200 /)
    const addresses = Array.from({ length: 1_000 }, (_, i) => `0x${String(i).padStart(40, '0')}`).join(',')
    const key = `X-API-Key: ${earn.publishable}`
    expect(await ask(`/v2/echo/abc?addresses=${addresses}`, key)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('refuses two Host headers with 400, and two different Authorization headers with 401', async () => {
    const { port } = app.server.address() as AddressInfo
    const ask = (...lines: string[]) =>
      sendRaw(port, ['GET /v2/echo/abc HTTP/1.1', 'Connection: close', ...lines, '', ''].join('\r\n'))
    const [good, other] = [`Authorization: Bearer ${earn.publishable}`, `Authorization: Bearer ${earn.secret}`]
    expect(await ask('Host: a', 'Host: b', good)).toMatch(/^HTTP\/1.1 400 /)
    expect(await ask('Host: a', 'host: a', good)).toMatch(/^HTTP\/1.1 400 /)
    expect(await ask('Host: a', good, other)).toMatch(/^HTTP\/1.1 401 /)
    expect(await ask('Host: a', good, good)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('answers a head or a body that is too slow with 408', () => {
    let said = ''
    const socket = { writable: true, end: (text: string) => (said = text), destroy: () => undefined }
    answerClientError(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    expect(said).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
    expect(said).toMatch(/^X-Request-Cost: 0\r$/m)
    const body = JSON.parse(said.split('\r\n\r\n')[1] ?? '')
    expect(body).toMatchObject({ code: 408, status: 'DEADLINE_EXCEEDED', context: {} })
  })

  it('does not mind an expectation it does not know', async () => {
    const { port } = app.server.address() as AddressInfo
    const answer = await sendRaw(
      port,
      'GET /v2/open/x HTTP/1.1\r\nHost: a\r\nExpect: a-lot\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('500 INTERNAL and 503 UNAVAILABLE', () => {
  it('leaks nothing and gives the request id', async () => {
    const answer = await get('/v2/open/broken')
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toMatchObject({ code: 500, status: 'INTERNAL' })
    expect(answer.json().context.requestId).toBe(answer.headers['x-request-id'])
    expect(answer.body).not.toMatch(/select|home|pass|node/)
  })

  it('tells when to come back in whole seconds', async () => {
    const answer = await get('/v2/open/waiting')
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('2')
    expect(answer.json()).toEqual({ code: 503, status: 'UNAVAILABLE', error: 'later', context: { retryable: true } })
    expect((await get('/v2/open/closed')).headers['retry-after']).toBe('30')
  })
})
