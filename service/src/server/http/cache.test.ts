import { brotliDecompressSync, gunzipSync } from 'node:zlib'
// @ts-expect-error: the types that are published for it are of an older version
import Negotiator from 'negotiator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadRandomCatalogue } from '../../../test/catalogueWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { seededRandom, times } from '../../../test/seed.js'
import { matchesEtag, negotiateEncoding } from './cache.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  await loadRandomCatalogue(earn, 80, 3)
})
afterAll(() => earn.close())

const get = (headers: Record<string, string> = {}, path = '/v2/opportunities/?limit=50') =>
  earn.service.publicApp.inject({ method: 'GET', url: path, headers: { 'x-api-key': earn.publishable, ...headers } })

describe('negotiateEncoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP;q=1.0, BR;q=0.9', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, br;q=0', 'gzip'],
    ['identity', 'identity'],
    ['identity;q=1, br;q=0.5', 'identity'],
    ['identity;q=0', 'identity'],
    ['deflate', 'identity'],
    ['br;q=nonsense', 'identity'],
    ['gzip;q=0.001', 'gzip'],
    ['deflate , gzip ; level=1 ; q=0.5,br;q=0.4', 'gzip'],
    ['brx, xbr, gzip x, br-1', 'identity'],
    ['gzip;q=0.1, gzip;q=0', 'identity'],
  ])('reads %j as %s', (header, encoding) => {
    expect(negotiateEncoding(header)).toBe(encoding)
  })

  it('chooses what the library negotiator chooses, of any header that names codings, each once', () => {
    const random = seededRandom()
    const ours = ['br', 'gzip', 'identity']
    for (let round = 0; round < 2_000 * times; round++) {
      const left = ['br', 'gzip', 'identity', 'deflate', 'zstd', 'x']
      const named = Array.from({ length: random.int(0, 5) }, () => {
        const [name = ''] = left.splice(random.int(0, left.length - 1), 1)
        return `${name}${random.chance(0.3) ? ' ' : ''}${random.chance(0.3) ? '' : `;q=${random.int(0, 10) / 10}`}`
      })
      const header = named.join(random.pick([',', ', ']))
      const [chosen = 'identity'] = new Negotiator({ headers: { 'accept-encoding': header } }).encodings(ours, {
        preferred: ours,
      })
      expect({ header, chosen: negotiateEncoding(header) }).toEqual({ header, chosen })
    }
  })
})

describe('a long Accept-Encoding', () => {
  it('is read as its codings say, wherever they stand', () => {
    const long = 'x,'.repeat(4_000)
    expect(negotiateEncoding(`${long}gzip`)).toBe('gzip')
    expect(negotiateEncoding(`gzip;q=0.5,${long}br;q=0.6`)).toBe('br')
    expect(negotiateEncoding(`${' '.repeat(8_000)}x`)).toBe('identity')
  })
})

describe('matchesEtag', () => {
  it.each([
    [undefined, false],
    ['"a"', true],
    ['"b", W/"a" ,"c"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
  ])('says of If-None-Match %j: %s', (header, matches) => {
    expect(matchesEtag(header, '"a"')).toBe(matches)
  })
})

describe('a cacheable answer', () => {
  it('is the same text in every encoding, each with a strong ETag of its own', async () => {
    const plain = await get()
    const brotli = await get({ 'accept-encoding': 'br' })
    const zipped = await get({ 'accept-encoding': 'gzip' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(brotliDecompressSync(brotli.rawPayload)).toEqual(plain.rawPayload)
    expect(gunzipSync(zipped.rawPayload)).toEqual(plain.rawPayload)
    expect(brotli.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3)
    const etags = [plain, brotli, zipped].map((answer) => answer.headers.etag)
    expect(new Set(etags).size).toBe(3)
    for (const etag of etags) expect(etag).toMatch(/^"[A-Za-z0-9_-]{20,}"$/)
    for (const answer of [plain, brotli, zipped]) {
      expect(answer.headers['cache-control']).toBe('private, no-cache')
      expect(answer.headers['vary']).toBe('X-API-Key, Accept-Encoding, Origin')
      expect(answer.headers['content-type']).toBe('application/json')
    }
  })

  it('is a 304 without body for the ETag of that encoding, and costs and counts as the 200', async () => {
    const first = await get({ 'accept-encoding': 'br' })
    const again = await get({ 'accept-encoding': 'br', 'if-none-match': `"x", ${first.headers.etag}` })
    expect(again.statusCode).toBe(304)
    expect(again.rawPayload.length).toBe(0)
    for (const name of ['etag', 'vary', 'cache-control', 'x-request-cost', 'x-ratelimit-limit'])
      expect(again.headers[name], name).toEqual(first.headers[name])
    expect(Number(again.headers['x-ratelimit-used'])).toBe(Number(first.headers['x-ratelimit-used']) + 1)
    const other = await get({ 'accept-encoding': 'gzip', 'if-none-match': String(first.headers.etag) })
    expect(other.statusCode).toBe(200)
  })

  it('changes its ETag with the catalogue, and only then', async () => {
    const before = (await get()).headers.etag
    expect((await get()).headers.etag).toBe(before)
    await earn.ctx.catalogue.refresh()
    expect((await get()).headers.etag).toBe(before)
    await earn.db`update opportunities set name = name || ' renamed'`
    await earn.ctx.catalogue.refresh()
    expect((await get()).headers.etag).not.toBe(before)
  })

  it('is sent plain when it is short', async () => {
    const answer = await get({ 'accept-encoding': 'br' }, '/v2/chains/')
    expect(answer.headers['content-encoding']).toBeUndefined()
    expect(answer.headers.etag).toBeDefined()
    expect(answer.json().data).toHaveLength(3)
  })

  it.each(['/v2/chains/', '/v2/tokens/', '/v2/protocols/', '/v2/opportunities/filter-options', '/v2/opportunities/'])(
    'is what %s gives',
    async (path) => {
      const answer = await get({}, path)
      expect(answer.headers.etag).toBeDefined()
      expect((await get({ 'if-none-match': String(answer.headers.etag) }, path)).statusCode).toBe(304)
    },
  )

  it('is not what an error or an operation outside the catalogue gives', async () => {
    for (const path of ['/v2/opportunities/?page=x', `/v2/membership/?address=0x${'1'.repeat(40)}`])
      expect((await get({ 'accept-encoding': 'br' }, path)).headers.etag).toBeUndefined()
  })
})
