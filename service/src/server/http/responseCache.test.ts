import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadRandomCatalogue } from '../../../test/catalogueWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createAuthenticate } from '../../features/auth/index.js'
import { openLimits } from '../../features/limits/index.js'
import { operations } from '../operations.js'
import { buildPublicApp } from './http.js'

type Answer = { status: number; headers: Record<string, unknown>; body: Buffer }

let earn: Earn
let port: number
let key: string
let app: ReturnType<typeof buildPublicApp>
/** Names of what was counted, by the way the answer took. */
const counted: string[] = []
/** Requests that reached Fastify. */
let own = 0

beforeAll(async () => {
  earn = await openEarn()
  await loadRandomCatalogue(earn, 80, 5)
  app = buildPublicApp({
    ctx: earn.ctx,
    operations,
    authenticate: createAuthenticate(earn.ctx),
    limits: openLimits(earn.ctx),
    answers: earn.ctx.catalogue.answers,
    onAnswered: (operationId, status) => counted.push(`${operationId} ${status}`),
  })
  app.addHook('onRequest', async () => {
    own++
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterAll(async () => {
  await app.close()
  await earn.close()
})
beforeEach(async () => {
  key = await earn.key({ kind: 'publishable', hourlyUnits: 1_000 })
  counted.length = 0
  own = 0
})

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Answer>((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, method, headers: { 'X-API-Key': key, ...headers } },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })

/** What must be the same in two answers to one question; each is charged and named on its own. */
const comparable = ({ status, headers, body }: Answer) => {
  const {
    date: _date,
    'x-request-id': _id,
    'x-ratelimit-used': _used,
    'x-ratelimit-remaining': _left,
    ...same
  } = headers
  return { status, headers: same, body: body.toString('latin1') }
}

const paths = [
  '/v2/chains',
  '/v2/chains/?limit=2',
  '/v2/tokens/?search=usd',
  '/v2/protocols/',
  '/v2/opportunities/filter-options',
  '/v2/opportunities/?limit=50',
  '/v2/opportunities/?sortBy=name&page=2&nonsense=1',
  '/v2/opportunities/?sortBy=apr&includeDeltas=true',
  '/v2/opportunities/?search=nothing-is-called-this',
]

describe('an answer given before', () => {
  it.each(paths)('of %s is the same the second time, in every encoding, and for an ETag', async (path) => {
    for (const encoding of [undefined, 'br', 'gzip', 'identity']) {
      const headers: Record<string, string> = encoding === undefined ? {} : { 'Accept-Encoding': encoding }
      const first = await get(path, headers)
      expect(first.status).toBe(200)
      const before = own
      const again = await get(path, headers)
      expect(own).toBe(before)
      expect(comparable(again)).toEqual(comparable(first))
      expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
      expect(Number(again.headers['x-ratelimit-used'])).toBe(Number(first.headers['x-ratelimit-used']) + 1)
      const known = { ...headers, 'If-None-Match': String(first.headers['etag']) }
      const short = await get(path, known)
      expect([short.status, short.body.length, own]).toEqual([304, 0, before])
      const inject = await app.inject({ method: 'GET', url: path, headers: { 'x-api-key': key, ...known } })
      const { connection: _c, 'keep-alive': _k, ...sent } = comparable(short).headers as Record<string, unknown>
      const { connection: _d, ...long } = comparable({ status: 304, headers: inject.headers, body: short.body })
        .headers as Record<string, unknown>
      expect(sent).toEqual(long)
    }
    expect(new Set(counted.map((name) => name.split(' ')[1]))).toEqual(new Set(['200', '304']))
  })

  it('is not for a bad key, a revoked one, none, or one given in another header', async () => {
    await get('/v2/chains')
    await get('/v2/chains')
    expect((await get('/v2/chains', { 'X-API-Key': `${key}x` })).status).toBe(401)
    expect((await get('/v2/chains', { 'X-API-Key': '' })).status).toBe(401)
    expect((await get('/v2/chains', { Authorization: `Bearer ${earn.publishable}` })).status).toBe(401)
    expect((await get('/v2/chains', { 'X-API-Key': '', Authorization: `Bearer ${key}` })).status).toBe(200)
    await earn.db`update api_keys set revoked_at = now() where hint like ${`${key.slice(0, 12)}%`}`
    earn.clock.advance(5_000)
    expect((await get('/v2/chains')).status).toBe(401)
  })

  it('never passes a budget, and is refused in the words of any other', async () => {
    key = await earn.key({ kind: 'publishable', hourlyUnits: 3 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => get('/v2/chains')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    for (const { status, headers, body } of answers.filter((answer) => answer.status !== 200)) {
      expect(status).toBe(429)
      expect(JSON.parse(body.toString())).toMatchObject({ status: 'RESOURCE_EXHAUSTED', context: { limit: 'hourly' } })
      expect(headers['x-ratelimit-used']).toBe('3')
      expect(headers['x-request-cost']).toBe('0')
    }
  })

  it('is kept once for all the words in which an encoding is asked for', async () => {
    const path = '/v2/tokens/?search=once'
    await get(path, { 'Accept-Encoding': 'gzip' })
    const kept = earn.ctx.catalogue.answers.byteLength()
    for (let index = 0; index < 50; index++) {
      const before = own
      await get(path, { 'Accept-Encoding': `gzip;q=0.5, x${index}${'y'.repeat(7_000)}` })
      expect(own).toBe(before)
    }
    expect(earn.ctx.catalogue.answers.byteLength()).toBe(kept)
  })

  it('of several pieces is put together when it is asked for again, once', async () => {
    const path = '/v2/opportunities/?limit=7&sortOrder=asc'
    const { answers } = earn.ctx.catalogue
    const first = await get(path)
    const inPieces = answers.byteLength()
    const second = await get(path)
    const joined = answers.byteLength()
    const third = await get(path)
    expect(joined - inPieces).toBeGreaterThan(first.body.length / 2)
    expect(answers.byteLength()).toBe(joined)
    expect([comparable(second), comparable(third)]).toEqual([comparable(first), comparable(first)])
  })

  it('is not given to a request whose head is refused', async () => {
    await get('/v2/chains')
    expect((await get('/v2/chains', { 'If-None-Match': 'x'.repeat(8_193) })).status).toBe(431)
  })

  it('is forgotten when the catalogue changes', async () => {
    const path = '/v2/opportunities/?limit=5'
    const first = await get(path)
    await get(path)
    await earn.db`update opportunities set name = name || ' renamed'`
    await earn.ctx.catalogue.refresh()
    const after = await get(path)
    expect(after.headers['etag']).not.toBe(first.headers['etag'])
    expect(after.body.toString()).toContain('renamed')
  })

  it('tells a page of another origin what it must be told', async () => {
    await get('/v2/chains')
    const answer = await get('/v2/chains', { Origin: 'https://app.example' })
    expect(answer.headers['access-control-allow-origin']).toBe('https://app.example')
    const other = await get('/v2/chains')
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('leaves HEAD to the own way, which gives the headers of the GET and no body, 304 included', async () => {
    await get('/v2/chains')
    const known = await get('/v2/chains')
    own = 0
    const head = await get('/v2/chains', {}, 'HEAD')
    expect([head.status, head.body.length, own]).toEqual([200, 0, 1])
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'x-request-cost'])
      expect(head.headers[name], name).toBe(known.headers[name])
    const etag = String(known.headers['etag'])
    expect((await get('/v2/chains', { 'If-None-Match': etag }, 'HEAD')).status).toBe(304)
  })

  it('is for GET alone', async () => {
    await get('/v2/chains')
    expect((await get('/v2/chains', {}, 'DELETE')).status).toBe(404)
  })
})
