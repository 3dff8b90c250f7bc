import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChromium } from '../chromium.js'
import { type Earn, openEarn } from '../harness.js'

const token = 'a-token-of-the-operator-0123456789'
const path = '/ops/v1/keys.json'

let earn: Earn
let browser: Browser
let port: number
/** A page of a stranger on the same machine. */
let stranger: Server
let strangerPort: number
beforeAll(async () => {
  const operatorTokenUntil = new Date('2026-11-21T00:00:00Z')
  const config = { operatorToken: token, operatorTokenUntil, operatorUrl: 'https://ops.example' }
  earn = await openEarn({ config })
  port = Number(new URL(await earn.service.opsApp.listen({ host: '127.0.0.1', port: 0 })).port)
  stranger = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<h1>Hello</h1>'))
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  strangerPort = (stranger.address() as AddressInfo).port
  browser = await openChromium()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  stranger?.close()
  await earn?.close()
})

type Sent = { method?: string; url?: string; headers?: Record<string, string>; body?: string }
type Got = { status: number; headers: IncomingHttpHeaders; text: string }

/** A request as it stands: nothing adds a header to it but Node its Host. */
const send = ({ method = 'GET', url = path, headers = {}, body }: Sent): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })

const authorization = `Bearer ${token}`
/** A key of this installation stands in the list; in nothing that is refused. */
const isList = (text: string) => text.includes('"hint"')

describe('the lists of the operator', () => {
  it('are read with the token by each name of the listener, and are kept nowhere', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, 'ops.example']) {
      const { status, headers, text } = await send({ headers: { host, authorization } })
      expect([host, status, isList(text), headers['cache-control']]).toEqual([host, 200, true, 'no-store'])
      expect(text).not.toContain(earn.secret)
    }
    const own = await send({ headers: { origin: 'https://ops.example', host: 'ops.example', authorization } })
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined])
    for (const name of ['chains', 'jobs', 'senders', 'changes']) {
      const { status, text } = await send({ url: `/ops/v1/${name}.json`, headers: { authorization } })
      expect([name, status, Array.isArray(JSON.parse(text).data)]).toEqual([name, 200, true])
    }
  })

  it.each<[string, number, Sent]>([
    ['no token', 401, {}],
    ['the token in the url', 401, { url: `${path}?token=${token}&authorization=${token}` }],
    ['the token in a cookie', 401, { headers: { cookie: `token=${token}; authorization=${token}` } }],
    ['the beginning of the token', 401, { headers: { authorization: authorization.slice(0, -1) } }],
    ['the token and more', 401, { headers: { authorization: `${authorization}0` } }],
    ['an API key as the token', 401, { headers: { authorization: 'Bearer sk_live_0' } }],
    ['a name that was made to lead here', 403, { headers: { host: 'rebound.example', authorization } }],
    ['a name that begins as a known one', 403, { headers: { host: '127.0.0.1.rebound.example', authorization } }],
    ['a name below that of this machine', 403, { headers: { host: 'rebound.localhost', authorization } }],
    ['a name with a user before it', 403, { headers: { host: 'localhost@rebound.example', authorization } }],
    ['a page of another port', 403, { headers: { origin: 'http://127.0.0.1:1', authorization } }],
    ['a page without an origin', 403, { headers: { origin: 'null', authorization } }],
    [
      'the name in a header of proxies',
      403,
      { headers: { host: 'rebound.example', 'x-forwarded-host': 'localhost', authorization } },
    ],
    [
      'another method by a header',
      404,
      { method: 'POST', headers: { 'x-http-method-override': 'GET', authorization }, body: '{}' },
    ],
    ['a path that leads there by dots', 404, { url: '/healthz/..%2fops/v1/keys.json', headers: { authorization } }],
  ])('tell nothing to %s', async (_name, status, sent) => {
    const got = await send(sent)
    expect([got.status, isList(got.text)]).toEqual([status, false])
  })

  it('are read by no address, which open probes are: those are read by no other name', async () => {
    const statuses = async (url: string, host: string) => (await send({ url, headers: { host, authorization } })).status
    const hosts = ['10.1.2.3:4021', '[2001:db8::1]:4021', 'rebound.example', '10.1.2.3.rebound.example']
    for (const [url, ...wanted] of [
      ['/healthz', 200, 200, 200, 200],
      ['/readyz?verbose', 200, 200, 403, 403],
      ['/metrics', 200, 200, 403, 403],
      [path, 403, 403, 403, 403],
      ['/reference', 403, 403, 403, 403],
    ] as const)
      expect([url, ...(await Promise.all(hosts.map((host) => statuses(url, host))))]).toEqual([url, ...wanted])
    expect(
      (await send({ url: '/readyz', headers: { host: hosts[0]!, origin: 'http://rebound.example' } })).status,
    ).toBe(403)
  })

  it('stand nowhere on the public listener', async () => {
    for (const url of [path, '/ops/v1', '/metrics', '/readyz']) {
      const { status } = await earn.request('GET', url, { headers: { authorization }, key: null })
      expect([url, status]).toEqual([url, 404])
    }
  })
})

describe('the reference of the operator', () => {
  it('passes calls that read on, and none that may change something, whatever it is sent as', async () => {
    const url = '/reference/call/v2/membership/agreement'
    const wallet = { address: '0x00000000000000000000000000000000000000aa', walletEcosystem: 'evm' }
    const body = JSON.stringify({ ...wallet, url: 'https://app.example' })
    const headers = { 'x-api-key': earn.publishable, 'content-type': 'application/json' }
    const read = await send({ url: '/reference/call/v2/chains/', headers })
    expect([read.status, read.headers['x-request-cost']]).toEqual([200, '1'])
    const sized = { ...headers, 'content-length': String(body.length) }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect([method, (await send({ method, url, headers: sized, body })).status]).toEqual([method, 404])
    for (const name of ['x-http-method-override', 'x-method-override', 'x-http-method']) {
      const { status } = await send({ url, headers: { ...headers, [name]: 'POST' } })
      expect([name, status]).toEqual([name, 404])
    }
    expect(await earn.db`select from agreements`).toHaveLength(0)
  })
})

describe('a page of a stranger in a browser', () => {
  it('reads nothing by a call, a script, a form or a frame, even of what needs no token', async () => {
    const tab = await browser.newPage()
    await tab.goto(`http://127.0.0.1:${strangerPort}/`)
    const target = `http://127.0.0.1:${port}`
    const read = (way: string) => tab.evaluate(`${way}.then((r) => r.text()).catch(() => 'nothing')`)
    expect(await read(`fetch('${target}/metrics')`)).toBe('nothing')
    expect(await read(`fetch('${target}${path}', { headers: { authorization: '${authorization}' } })`)).toBe('nothing')
    const script = `new Promise((done) => {
      const each = document.createElement('script')
      each.onload = () => done('ran')
      each.onerror = () => done('nothing')
      each.src = '${target}/reference/page.js'
      document.head.append(each)
    })`
    // A page of the same machine is of the same site, so that only its origin tells it from the listener's own.
    expect(await tab.evaluate(script)).toBe('nothing')
    await tab.setContent(`<iframe src="${target}/reference"></iframe>`)
    const [, frame] = tab.frames()
    await frame?.waitForLoadState()
    expect(frame?.url()).toMatch(/^chrome-error:/)
    await tab.goto(`http://127.0.0.1:${strangerPort}/`)
    await tab.setContent(`<form method="post" action="${target}/reference/call/v2/chains"><button>Go</button></form>`)
    const [answer] = await Promise.all([tab.waitForResponse(/reference\/call/), tab.getByText('Go').click()])
    expect(answer.status()).toBe(403)
    await tab.close()
  }, 60_000)
})

describe('a page that rebinds its name to the loopback address', () => {
  it('reads nothing in a real browser, although the browser holds it for a page of the listener’s own origin', async () => {
    const rebound = await openChromium([
      '--host-resolver-rules=MAP rebound.example 127.0.0.1',
      // A browser may keep such a page from this machine by itself: here the listener alone has to refuse it.
      '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
    ])
    const tab = await rebound.newPage()
    const home = `http://rebound.example:${port}/`
    // The name led to the stranger when the page was read: from now on it leads to the listener.
    await tab.route(home, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Hello</h1>' }))
    await tab.goto(home)
    const read = (url: string) =>
      tab.evaluate(
        `fetch('${url}', { headers: { authorization: '${authorization}' } }).then(async (r) => [r.status, await r.text()])`,
      ) as Promise<[number, string]>
    for (const url of [path, '/metrics', '/readyz?verbose', '/operator/', '/reference', '/streams/files/0']) {
      const [status, text] = await read(url)
      expect([url, status, isList(text), text.includes('openearn_')]).toEqual([url, 403, false, false])
    }
    await rebound.close()
  }, 60_000)
})

// These come last: the first uses up the wrong tokens of its minute, the second the life of the token.
describe('the token', () => {
  it('is guessed ten times a minute, and no more even when the guess is right', async () => {
    earn.clock.advance(60_000)
    const guess = () => send({ headers: { authorization: `Bearer ${'x'.repeat(32)}` } })
    for (let count = 0; count < 10; count += 1) expect((await guess()).status).toBe(401)
    const refused = await send({ headers: { authorization } })
    expect([refused.status, refused.headers['retry-after'], isList(refused.text)]).toEqual([429, '60', false])
    earn.clock.advance(60_000)
    expect((await send({ headers: { authorization } })).status).toBe(200)
  })

  it('opens nothing once it is old', async () => {
    earn.clock.advance(86_400_000)
    const { status, text } = await send({ headers: { authorization } })
    expect([status, isList(text)]).toEqual([401, false])
    expect(text).toContain('has expired')
  })
})
