import { once } from 'node:events'
import { createConnection } from 'node:net'
import { createEarnClient } from '@openearn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDocument } from './document.js'
import { serveMcp } from './http.js'

let served: Awaited<ReturnType<typeof serveMcp>>
const friend = 'http://localhost:6274'

const faults: unknown[] = []
const onError = (error: unknown) => void faults.push(error)

beforeAll(async () => {
  const client = createEarnClient({ baseUrl: 'http://127.0.0.1:1' })
  served = await serveMcp({ client, forms: readDocument() }, { port: 0, origins: [friend], version: '1.0.0', onError })
})
afterAll(() => served.close())

const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

type Change = { line?: string; headers?: Record<string, string | string[] | undefined>; body?: string }

/** Sends a request as bytes, as nothing between a page and the port changes it; returns all that comes back. */
function send({ line = 'POST /mcp HTTP/1.1', headers = {}, body = list }: Change): Promise<string> {
  const { port } = new URL(served.url)
  const all = {
    ...{ host: `127.0.0.1:${port}`, authorization: `Bearer ${served.token}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json, text/event-stream', connection: 'close' },
    ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const lines = Object.entries(all).flatMap(([name, value]) => [value ?? []].flat().map((each) => `${name}: ${each}`))
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = createConnection(Number(port), '127.0.0.1', () =>
      socket.write(`${[line, ...lines].join('\r\n')}\r\n\r\n${body}`),
    )
    socket.on('data', (part) => parts.push(part))
    socket.on('close', () => resolve(Buffer.concat(parts).toString()))
    socket.on('error', reject)
  })
}

const statusOf = (answer: string) => Number(answer.split(' ')[1])

describe('the port of loopback', () => {
  it('answers who knows the token, with JSON, and a page of a named origin', async () => {
    for (const headers of [{}, { origin: friend }, { host: `localhost:${new URL(served.url).port}` }]) {
      const answer = await send({ headers })
      expect(statusOf(answer)).toBe(200)
      expect(answer).toContain('content-type: application/json')
      const { result } = JSON.parse(answer.slice(answer.indexOf('{')))
      expect(result.tools.length).toBeGreaterThan(10)
    }
  })

  it.each<[string, Change, number]>([
    ['a name that was bound to this address anew', { headers: { host: 'evil.example' } }, 403],
    ['such a name with the port', { headers: { host: 'evil.example:80' } }, 403],
    ['a name that begins like ours', { headers: { host: 'localhost.evil.example' } }, 403],
    ['our address without the port', { headers: { host: '127.0.0.1' } }, 403],
    ['two hosts', { headers: { host: ['127.0.0.1', 'evil.example'] } }, 403],
    ['no host', { headers: { host: undefined } }, 400],
    ['no host by HTTP/1.0', { line: 'POST /mcp HTTP/1.0', headers: { host: undefined } }, 403],
    ['a page of another site', { headers: { origin: 'https://evil.example' } }, 403],
    ['a page without an origin of its own', { headers: { origin: 'null' } }, 403],
    ['a page at another port of this machine', { headers: { origin: 'http://localhost:3000' } }, 403],
    ['an origin that begins like a named one', { headers: { origin: `${friend}.evil.example` } }, 403],
    ['two origins', { headers: { origin: [friend, 'https://evil.example'] } }, 403],
    [
      'the question of a browser whether it may',
      { line: 'OPTIONS /mcp HTTP/1.1', headers: { origin: friend }, body: '' },
      405,
    ],
    ['a form', { headers: { 'content-type': 'text/plain' } }, 415],
    ['another form', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    ['JSON that only says so behind', { headers: { 'content-type': 'text/plain; application/json' } }, 415],
    ['no type, as a beacon', { headers: { 'content-type': undefined } }, 415],
    ['no token', { headers: { authorization: undefined } }, 401],
    ['a token in the address', { line: 'POST /mcp?token=x HTTP/1.1' }, 404],
    ['another token', { headers: { authorization: 'Bearer x' } }, 401],
    ['an image or a script', { line: 'GET /mcp HTTP/1.1', body: '' }, 405],
    ['a stream of events', { line: 'GET /mcp HTTP/1.1', headers: { accept: 'text/event-stream' }, body: '' }, 405],
    ['another path', { line: 'POST / HTTP/1.1' }, 404],
    ['a whole url as the path', { line: 'POST http://evil.example/mcp HTTP/1.1' }, 404],
    ['more than 256 KiB', { body: ' '.repeat(262_145) }, 413],
    ['what is no JSON', { body: '{' }, 400],
  ])('gives nothing to %s', async (_, change, status) => {
    const answer = await send(change)
    expect(statusOf(answer)).toBe(status)
    expect(answer.toLowerCase()).not.toContain('access-control')
    expect(answer).not.toContain('list_opportunities')
  })

  it('gives nothing to a WebSocket', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'x',
      'sec-websocket-version': '13',
    }
    expect(await send({ line: 'GET /mcp HTTP/1.1', headers, body: '' })).toBe('')
  })

  it('takes a request that is broken off for no fault of its own, and goes on', async () => {
    const { port } = new URL(served.url)
    const lines = [
      ...['POST /mcp HTTP/1.1', `host: 127.0.0.1:${port}`, `authorization: Bearer ${served.token}`],
      ...['content-type: application/json', 'content-length: 9', 'expect: 100-continue', '', '{'],
    ]
    const socket = createConnection(Number(port), '127.0.0.1', () => socket.write(lines.join('\r\n')))
    // It reads the body from here on.
    expect(String((await once(socket, 'data'))[0])).toContain('100 Continue')
    socket.resetAndDestroy()
    expect(statusOf(await send({}))).toBe(200)
    expect(faults).toEqual([])
  })

  it('has another token at each start', async () => {
    const client = createEarnClient({ baseUrl: 'http://127.0.0.1:1' })
    const other = await serveMcp({ client, forms: readDocument() }, { port: 0, origins: [], version: '1.0.0', onError })
    await other.close()
    expect(other.token).not.toBe(served.token)
    expect(served.token.length).toBeGreaterThanOrEqual(43)
  })
})
