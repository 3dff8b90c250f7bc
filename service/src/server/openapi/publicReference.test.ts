import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn({
    config: { publicReference: true, publicUrl: 'https://earn.example/api', ipLimitPerMinute: 8 },
  })
})
afterAll(() => earn.close())

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  earn.service.publicApp.inject({ method, url, headers, remoteAddress: '192.0.2.7' })

it('the root of the public listener names the API, and no page that is not there', async () => {
  const plain = await openEarn({ config: { publicUrl: 'https://earn.example' } })
  const root = await plain.service.publicApp.inject('/')
  expect([root.statusCode, root.json()]).toEqual([
    200,
    { service: 'OpenEarn', links: { api: 'https://earn.example/v2' } },
  ])
  for (const url of ['/reference', '/openapi.json'])
    expect((await plain.service.publicApp.inject(url)).statusCode, url).toBe(404)
  await plain.close()
})

describe('the reference on the public listener, where a setting asks for it', () => {
  it('is the document with the public base url, and the page that calls the operations beside it', async () => {
    const document = await get('/openapi.json', { origin: 'https://tools.example' })
    expect([document.statusCode, document.headers['access-control-allow-origin']]).toEqual([
      200,
      'https://tools.example',
    ])
    expect(document.json().servers).toEqual([{ url: 'https://earn.example/api' }])
    expect((await earn.service.opsApp.inject('/openapi.json')).json()).toEqual(document.json())
    const page = await get('/reference/')
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.body).toContain('data-calls=""')
    for (const name of ['page.js', 'page.css']) expect((await get(`/reference/${name}`)).statusCode).toBe(200)
    expect((await get('/openapi.json', {}, 'HEAD')).statusCode).toBe(200)
  })

  it('has links at the root, with the public base url', async () => {
    const root = await get('/')
    expect([root.statusCode, root.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    const url = 'https://earn.example/api'
    expect(root.json()).toEqual({
      service: 'OpenEarn',
      links: { api: `${url}/v2`, reference: `${url}/reference`, document: `${url}/openapi.json` },
    })
  })

  it('has no way round the operations, their keys and their costs', async () => {
    expect((await get('/reference/call/v2/chains/')).statusCode).toBe(404)
    for (const url of ['/metrics', '/healthz', '/readyz']) expect((await get(url)).statusCode, url).toBe(404)
  })

  it('takes a token of the address, as whatever is open to anyone', async () => {
    let answer = await get('/openapi.json')
    for (let left = 8; left > 0 && answer.statusCode === 200; left--) answer = await get('/openapi.json')
    expect([answer.statusCode, answer.json().context.limit]).toEqual([429, 'ip'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })
})
