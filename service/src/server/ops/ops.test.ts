import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { silentLog } from '../../kernel/log.js'
import { openService } from '../service.js'
import { createShutdown } from '../shutdown.js'
import { joinMetrics } from './metrics.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

const get = (url: string, headers: Record<string, string> = {}) =>
  earn.service.opsApp.inject({ method: 'GET', url, headers })

describe('the operator listener', () => {
  it('counts requests by operation and status, their duration, and refusals by limit', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 2 })
    await earn.call('GetChains', { key })
    await earn.call('GetChains', { key, query: { page: 'x' } })
    await earn.call('GetChains', { key })
    await earn.call('GetChains', { key: 'nonsense' })
    await earn.request('GET', '/v2/nothing')
    const answer = await get('/metrics')
    expect(answer.headers['content-type']).toMatch(/^text\/plain/)
    for (const [status, count] of [
      [200, 1],
      [400, 1],
      [401, 1],
      [429, 1],
    ])
      expect(answer.body).toContain(`openearn_http_requests_total{operation="GetChains",status="${status}"} ${count}`)
    expect(answer.body).toContain('openearn_http_requests_total{operation="none",status="404"} 1')
    expect(answer.body).toContain('openearn_http_request_duration_seconds_count{operation="GetChains"} 4')
    expect(answer.body).toContain('openearn_limit_refusals_total{limit="hourly"} 1')
    expect(answer.body).toContain('openearn_limit_refusals_total{limit="ip"} 0')
    expect(answer.body).toContain('openearn_process_cpu_seconds_total')
  })

  it('shows the reference, made of nothing from elsewhere', async () => {
    for (const [url, type] of [
      ['/reference', /^text\/html/],
      ['/reference/', /^text\/html/],
      ['/reference/page.js', /^text\/javascript/],
      ['/reference/page.css', /^text\/css/],
      ['/openapi.json', /^application\/json/],
    ] as const) {
      const answer = await get(url)
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['content-type']).toMatch(type)
      if (url !== '/openapi.json') expect(answer.body).not.toMatch(/https?:\/\//)
    }
    expect((await get('/reference')).body).toContain('<title>OpenEarn API reference</title>')
  })

  it('has links at the root that lead somewhere', async () => {
    const { links } = (await get('/')).json()
    expect(links.api).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/v2$/)
    const paths = Object.values<string>(links).filter((link) => link.startsWith('/'))
    expect(paths.length).toBe(6)
    for (const path of paths) expect((await get(path)).statusCode, path).toBe(200)
  })

  it('says in the document where the public listener is reached, and keeps what was asked for before', async () => {
    const first = await get('/openapi.json', { 'accept-encoding': 'gzip' })
    expect(first.headers['content-encoding']).toBe('gzip')
    const again = await get('/openapi.json', {
      'accept-encoding': 'gzip',
      'if-none-match': String(first.headers['etag']),
    })
    expect(again.statusCode).toBe(304)
    expect((await get('/openapi.json')).json().servers).toEqual([{ url: 'http://127.0.0.1:4020' }])
    const url = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
    expect((await get('/openapi.json')).json().servers).toEqual([{ url }])
  })

  it('has the page try calls by way of this listener', async () => {
    expect((await get('/reference')).body).toContain('data-calls="/reference/call"')
  })

  it('tries calls of the public listener that read, with secret keys too, and reaches nothing else', async () => {
    const tried = await get('/reference/call/v2/chains/?limit=5', {
      'x-api-key': earn.secret,
      origin: 'http://localhost',
    })
    expect(tried.statusCode).toBe(200)
    expect(tried.json()).toMatchObject({ data: [], pagination: { limit: 5 } })
    expect(tried.headers['x-request-cost']).toBe('1')
    expect((await get('/reference/call/metrics')).statusCode).toBe(404)
    expect((await earn.request('GET', '/reference')).status).toBe(404)
    expect((await earn.request('GET', '/metrics')).status).toBe(404)
  })

  it('names chains that cannot be read, and is ready for all that', async () => {
    await earn.db`insert into chains (chain_id, name, slug, watched) values
      (7, 'Seven', 'seven', true), (8, 'Eight', 'eight', true), (9, 'Nine', 'nine', true), (10, 'Ten', 'ten', false)`
    const at = (ms: number) => new Date(earn.clock.now().getTime() - ms)
    for (const [chainId, state, reason, updatedAt] of [
      [7, 'live', null, at(1_000)],
      [8, 'live', null, at(90_000)],
      [9, 'stalled', 'the node has another chain', at(1_000)],
    ] as const)
      await earn.db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, state, reason, updated_at)
        values (${chainId}, 0, 1, '0x', 1, ${state}, ${reason}, ${updatedAt})`
    const answer = await get('/readyz')
    expect(answer.statusCode).toBe(200)
    expect(answer.json().ready).toBe(true)
    expect(answer.json().checks).toEqual([
      { name: 'database', ready: true, detail: 'answers' },
      { name: 'chain 7', ready: true, optional: true, detail: 'live' },
      { name: 'chain 8', ready: false, optional: true, detail: 'cannot be read: no watcher has heard of it for 90 s' },
      { name: 'chain 9', ready: false, optional: true, detail: 'the node has another chain' },
    ])
  })

  it('writes a line for each request where that is set, without its query', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const lines: unknown[][] = []
    const log = { ...silentLog, info: (...words: unknown[]) => lines.push(words) } as never
    const base = { ...earn.ctx, log, config: { ...earn.ctx.config, logRequests: true } }
    const shutdown = createShutdown(silentLog)
    const { publicApp } = await openService(base, { chains: [], shutdown })
    const answer = await publicApp.inject({
      url: '/v2/chains/?page=0',
      headers: {
        'x-api-key': earn.publishable,
        traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      },
    })
    expect(lines).toEqual([
      [
        {
          ...{ method: 'GET', path: '/v2/chains/', operationId: 'GetChains', status: answer.statusCode },
          ...{ ms: expect.any(Number), requestId: answer.headers['x-request-id'], traceId, keyId: expect.any(String) },
        },
        'served',
      ],
    ])
    await publicApp.close()
    await shutdown.stop()
  })

  it('joins the metrics of another process, samples of one name together', () => {
    const own = '# HELP a_total A\n# TYPE a_total counter\na_total{chain="1"} 1\n\n# HELP b B\n# TYPE b gauge\nb 2\n'
    const other = '# HELP a_total A\n# TYPE a_total counter\na_total{chain="1",process="watcher"} 3\n'
    expect(joinMetrics(own, other)).toBe(
      '# HELP a_total A\n# TYPE a_total counter\na_total{chain="1"} 1\na_total{chain="1",process="watcher"} 3\n\n# HELP b B\n# TYPE b gauge\nb 2\n',
    )
    expect(joinMetrics(own, undefined)).toBe(own)
  })

  it('is ready while the database answers', async () => {
    expect((await get('/readyz')).json()).toMatchObject({ ready: true })
  })
})
