import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock, systemClock } from './clock.js'
import { createOutbound, type OutboundError } from './outbound.js'

let server: Server | undefined
afterEach(() => server?.close())

async function listen(handle: RequestListener): Promise<string> {
  const started = createServer(handle)
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}/secret-path?key=secret`
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as OutboundError,
  )

describe('calls to other systems', () => {
  it('are tried again after a failure that may pass, and wait as Retry-After says', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    let calls = 0
    const url = await listen((_request, response) => {
      calls += 1
      if (calls === 1) response.writeHead(429, { 'retry-after': '3' }).end()
      else if (calls === 2) response.writeHead(500).end()
      else response.end('well')
    })
    const outbound = createOutbound(clock, () => 0.5)
    expect(await outbound.fetchText({ url })).toBe('well')
    expect(clock.now().getTime() - Date.parse('2026-01-01T00:00:00Z')).toBe(3_000 + 200)
  })

  it('are tried twice more unless the caller says otherwise, each time after about twice as long', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    let calls = 0
    const url = await listen((_request, response) => {
      calls += 1
      response.writeHead(500).end()
    })
    const waited = async (random: number, retries?: number) => {
      const begun = clock.now().getTime()
      const outbound = createOutbound(clock, () => random)
      const error = await failure(outbound.fetchText(retries === undefined ? { url } : { url, retries }))
      expect(error).toMatchObject({ name: 'OutboundError', kind: 'server', httpStatus: 500, retryable: true })
      return clock.now().getTime() - begun
    }
    expect([await waited(0), calls]).toEqual([50 + 100, 3])
    expect([await waited(1), calls]).toEqual([150 + 300, 6])
    expect([await waited(1, 0), calls]).toEqual([0, 7])
  })

  it('are GET without a body, or what the caller says, with its headers', async () => {
    const url = await listen(async (request, response) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of request) chunks.push(chunk)
      response.end(`${request.method} ${request.headers['x-say']} ${Buffer.concat(chunks)}`)
    })
    const outbound = createOutbound(systemClock)
    expect(await outbound.fetchText({ url })).toBe('GET undefined ')
    const headers = { 'x-say': 'well' }
    expect(await outbound.fetchText({ url, method: 'POST', body: 'text', headers })).toBe('POST well text')
  })

  it('wait for a Retry-After of several seconds or none, and not for a text that only holds a number', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const waits = ['12', '0', 'x9', '9x']
    const url = await listen((_request, response) => {
      const after = waits.shift()
      if (after === undefined) response.end('well')
      else response.writeHead(429, { 'retry-after': after }).end()
    })
    const told: [string, number | undefined][] = []
    while (waits.length > 0) {
      const error = await failure(createOutbound(clock).fetchText({ url, retries: 0 }))
      told.push([error?.kind ?? '', error?.retryAfterMs])
    }
    expect(told).toEqual([12_000, 0, undefined, undefined].map((ms) => ['rate-limited', ms]))
  })

  it('wait until the date a Retry-After names, by the clock of the host that says it', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const waits = ['Tue, 01 Jan 2030 00:00:07 GMT', 'Mon, 31 Dec 2029 00:00:00 GMT', 'soon']
    const url = await listen((_request, response) => {
      const after = waits.shift()
      if (after === undefined) response.end('well')
      else response.writeHead(429, { date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'retry-after': after }).end()
    })
    const outbound = createOutbound(clock, () => 0.5)
    expect(await outbound.fetchText({ url, retries: 3 })).toBe('well')
    // 7 s as told; the usual backoff for a date that is past and for a word that is no date.
    expect(clock.now().getTime() - Date.parse('2026-01-01T00:00:00Z')).toBe(7_000 + 200 + 400)
  })

  it('are not tried again when the caller is wrong, and name nothing but the host', async () => {
    let calls = 0
    const url = await listen((_request, response) => {
      calls += 1
      response.writeHead(403).end('no')
    })
    const error = await failure(createOutbound(systemClock).fetchText({ url }))
    expect(error).toMatchObject({ kind: 'client', retryable: false })
    expect(error?.message).toMatch(/^127\.0\.0\.1:[0-9]+ answered 403$/)
    expect(calls).toBe(1)
  })

  it('end in time, also when an answer never ends', async () => {
    const url = await listen((_request, response) => {
      response.write('half')
    })
    const error = await failure(createOutbound(systemClock).fetchText({ url, timeoutMs: 100, retries: 0 }))
    expect(error).toMatchObject({ kind: 'timeout', retryable: true })
    expect(error?.message).toMatch(/^127\.0\.0\.1:[0-9]+ did not answer in time$/)
    expect(error?.cause).toMatchObject({ name: 'TimeoutError' })
    server?.closeAllConnections()
  })

  it('refuse answers above the limit, and redirects', async () => {
    const big = await listen((_request, response) => response.end('x'.repeat(2_000)))
    expect(await failure(createOutbound(systemClock).fetchText({ url: big, maxBytes: 1_999 }))).toMatchObject({
      kind: 'too-large',
      retryable: false,
      message: expect.stringMatching(/^127\.0\.0\.1:[0-9]+ answered more than 1999 bytes$/),
    })
    expect(await createOutbound(systemClock).fetchText({ url: big, maxBytes: 2_000 })).toHaveLength(2_000)
    server?.close()
    const away = await listen((_request, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    )
    expect(await failure(createOutbound(systemClock).fetchText({ url: away, retries: 0 }))).toMatchObject({
      kind: 'network',
      retryable: true,
      message: expect.stringMatching(/^127\.0\.0\.1:[0-9]+ could not be reached$/),
      cause: expect.any(Error),
    })
  })

  it.each([408, 504, 524])('take a %i of a proxy for an answer that did not come in time', async (status) => {
    const url = await listen((_request, response) => response.writeHead(status).end())
    expect(await failure(createOutbound(systemClock).fetchText({ url, retries: 0 }))).toMatchObject({ kind: 'timeout' })
  })

  it("are late when the caller's own deadline is over", async () => {
    const url = await listen(() => undefined)
    const request = { url, retries: 2, signal: AbortSignal.timeout(50) }
    expect(await failure(createOutbound(systemClock).fetchText(request))).toMatchObject({ kind: 'timeout' })
    server?.closeAllConnections()
  })
})
