import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock, systemClock } from '../kernel/clock.js'
import { createOutbound, OutboundError } from '../kernel/outbound.js'
import { createRpc, RpcError } from './rpc.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

type Call = { id: number; method: string }
type Behaviour = (body: Call | Call[]) => { status?: number; headers?: Record<string, string>; body: unknown } | 'hang'

/** A node on loopback that answers as told; `calls` are the methods it was asked. */
async function node(behave: Behaviour): Promise<{ url: string; calls: string[] }> {
  const calls: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const body = JSON.parse(text) as Call | Call[]
      calls.push(Array.isArray(body) ? `batch ${body.length}` : body.method)
      const answer = behave(body)
      if (answer === 'hang') return
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

const answerOne = ({ id, method }: Call, chainId = 5) => ({
  jsonrpc: '2.0',
  id,
  result: method === 'eth_chainId' ? `0x${chainId.toString(16)}` : method,
})
const healthy: Behaviour = (body) => ({
  body: Array.isArray(body) ? body.map((call) => answerOne(call)) : answerOne(body),
})
const quick = () => createOutbound({ ...systemClock, sleep: async () => undefined })

describe('JSON-RPC over several urls', () => {
  it.each([
    ['a 5xx', () => ({ status: 502, body: '' })],
    ['a 429 with Retry-After', () => ({ status: 429, headers: { 'retry-after': '30' }, body: '' })],
    ['a 429 without', () => ({ status: 429, body: '' })],
    ['truncated JSON', () => ({ body: '{"jsonrpc":"2.0","id":1,"resu' })],
    ['an answer to another request', () => ({ body: { jsonrpc: '2.0', id: 999_999, result: '0x1' } })],
  ] as [string, Behaviour][])('goes on with the next url after %s, and benches the first', async (_, broken) => {
    const [first, second] = [await node(broken), await node(healthy)]
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const rpc = createRpc(quick(), [first.url, second.url], { clock })
    expect(await rpc.request({ method: 'a' })).toBe('a')
    expect(await rpc.request({ method: 'b' })).toBe('b')
    expect(first.calls).toEqual(['a'])
    clock.advance(61_000)
    await rpc.request({ method: 'c' })
    expect(first.calls.length).toBe(2)
  })

  it('never asks a url that serves another chain for anything else', async () => {
    const stranger = await node((body) => ({ body: answerOne(body as Call, 6) }))
    const own = await node(healthy)
    const rpc = createRpc(quick(), [stranger.url, own.url], { chainId: 5 })
    expect(await rpc.request({ method: 'a' })).toBe('a')
    expect(stranger.calls).toEqual(['eth_chainId'])
    const alone = createRpc(quick(), [stranger.url], { chainId: 5 })
    await expect(alone.request({ method: 'a' })).rejects.toThrow(/serves chain 6, not 5/)
  })

  it('notices a url that begins to serve another chain later', async () => {
    let chainId = 5
    const fickle = await node((body) => ({ body: answerOne(body as Call, chainId) }))
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const rpc = createRpc(quick(), [fickle.url], { chainId: 5, clock })
    await rpc.request({ method: 'a' })
    chainId = 6
    clock.advance(601_000)
    await expect(rpc.request({ method: 'b' })).rejects.toBeInstanceOf(OutboundError)
    expect(fickle.calls).toEqual(['eth_chainId', 'a', 'eth_chainId'])
  })

  it("takes a node's refusal for an answer and asks nobody else", async () => {
    const refusing = await node((body) => ({
      body: {
        jsonrpc: '2.0',
        id: (body as Call).id,
        error: { code: -32005, message: 'query returned more than 10000 results' },
      },
    }))
    const other = await node(healthy)
    const rpc = createRpc(quick(), [refusing.url, other.url])
    await expect(rpc.request({ method: 'a' })).rejects.toBeInstanceOf(RpcError)
    expect(other.calls).toEqual([])
  })

  it('batches in one call in any order of answers, and asks one by one where batches are refused', async () => {
    const shuffled = await node((body) => ({
      body: Array.isArray(body) ? body.map((call) => answerOne(call)).reverse() : answerOne(body),
    }))
    const rpc = createRpc(quick(), [shuffled.url])
    expect(await rpc.batch([{ method: 'a' }, { method: 'b' }])).toEqual(['a', 'b'])
    expect(shuffled.calls).toEqual(['batch 2'])
    const single = await node((body) =>
      Array.isArray(body)
        ? { body: { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } } }
        : { body: answerOne(body) },
    )
    const slow = createRpc(quick(), [single.url])
    expect(await slow.batch([{ method: 'a' }, { method: 'b' }])).toEqual(['a', 'b'])
    expect(single.calls).toEqual(['batch 2', 'a', 'b'])
  })

  it.each([
    ['code 429', 429, 'Your app has exceeded its compute units per second capacity'],
    ['-32005', -32005, 'project ID request rate exceeded'],
    ['-32016', -32016, 'over rate limit'],
    ['-32090', -32090, 'Too many requests, reason: call rate limit exhausted'],
  ])('goes on with the next url after one says by JSON (%s) that it is asked too often', async (_, code, message) => {
    const refused = (id: number | null) => ({ jsonrpc: '2.0', id, error: { code, message } })
    const busy = await node((body) => ({
      body: Array.isArray(body) ? body.map(({ id }) => refused(id)) : refused(body.id),
    }))
    const own = await node(healthy)
    const rpc = createRpc(quick(), [busy.url, own.url])
    expect(await rpc.request({ method: 'a' })).toBe('a')
    expect(await rpc.batch([{ method: 'b' }, { method: 'c' }])).toEqual(['b', 'c'])
    expect(busy.calls).toEqual(['a'])
    const whole = await node(() => ({ body: refused(null) }))
    expect(await createRpc(quick(), [whole.url, own.url]).batch([{ method: 'b' }, { method: 'c' }])).toEqual(['b', 'c'])
    expect(whole.calls).toEqual(['batch 2'])
  })

  it('takes a contract that reverts with such words for an answer, and keeps to its node', async () => {
    const error = { code: 3, message: 'execution reverted: rate limit exceeded', data: '0x' }
    const reverting = await node((body) => ({ body: { jsonrpc: '2.0', id: (body as Call).id, error } }))
    const other = await node(healthy)
    const rpc = createRpc(quick(), [reverting.url, other.url])
    await expect(rpc.request({ method: 'eth_call' })).rejects.toBeInstanceOf(RpcError)
    await expect(rpc.request({ method: 'eth_call' })).rejects.toBeInstanceOf(RpcError)
    expect(other.calls).toEqual([])
  })

  it('asks one by one where batches are refused by status, and fails where single calls are refused too', async () => {
    const single = await node((body) =>
      Array.isArray(body) ? { status: 413, body: 'batch too large' } : { body: answerOne(body) },
    )
    const rpc = createRpc(quick(), [single.url])
    expect(await rpc.batch([{ method: 'a' }, { method: 'b' }])).toEqual(['a', 'b'])
    expect(await rpc.batch([{ method: 'c' }, { method: 'd' }])).toEqual(['c', 'd'])
    expect(single.calls).toEqual(['batch 2', 'a', 'b', 'c', 'd'])
    const closed = await node(() => ({ status: 403, body: '' }))
    await expect(createRpc(quick(), [closed.url]).batch([{ method: 'a' }, { method: 'b' }])).rejects.toThrow('403')
  })

  it('fails a batch of which an answer is missing', async () => {
    const short = await node((body) => ({ body: (body as Call[]).slice(1).map((call) => answerOne(call)) }))
    await expect(createRpc(quick(), [short.url]).batch([{ method: 'a' }, { method: 'b' }])).rejects.toThrow(
      OutboundError,
    )
  })

  it('takes a refusal without an id for what it is', async () => {
    const nameless = await node(() => ({
      body: { jsonrpc: '2.0', id: null, error: { code: -32602, message: 'invalid block range' } },
    }))
    await expect(createRpc(quick(), [nameless.url]).request({ method: 'a' })).rejects.toBeInstanceOf(RpcError)
  })

  it('keeps off a url that is unreliable, as long as another answers', async () => {
    const [first, second] = [await node(healthy), await node(healthy)]
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const rpc = createRpc(quick(), [first.url, second.url], { clock })
    await rpc.request({ method: 'a' })
    // Another job's answers do not say whose was wrong.
    rpc.as('other').markUnreliable()
    await rpc.request({ method: 'b' })
    rpc.markUnreliable()
    await rpc.request({ method: 'c' })
    expect([first.calls, second.calls]).toEqual([['a', 'b'], ['c']])
    clock.advance(301_000)
    await rpc.request({ method: 'd' })
    expect(first.calls).toEqual(['a', 'b', 'd'])
  })

  it('leaves a url alone as long as its Retry-After says', async () => {
    const first = await node(() => ({ status: 429, headers: { 'retry-after': '300' }, body: '' }))
    const second = await node(healthy)
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const rpc = createRpc(quick(), [first.url, second.url], { clock })
    await rpc.request({ method: 'a' })
    clock.advance(299_000)
    await rpc.request({ method: 'b' })
    expect(first.calls).toEqual(['a'])
    clock.advance(2_000)
    await rpc.request({ method: 'c' })
    expect(first.calls).toEqual(['a', 'c'])
  })

  it('asks the second opinion of another url, also under the name of another job', async () => {
    const [first, second] = [await node(healthy), await node(healthy)]
    const rpc = createRpc(quick(), [first.url, second.url])
    await rpc.request({ method: 'a' })
    await rpc.secondary()?.as('other').request({ method: 'b' })
    expect([first.calls, second.calls]).toEqual([['a'], ['b']])
  })

  it('spares a url for 5 seconds after 5 failures in a row, then begins again', async () => {
    let well = false
    const fickle = await node((body) => (well ? { body: answerOne(body as Call) } : { status: 500, body: '' }))
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const rpc = createRpc(quick(), [fickle.url], { clock })
    const ask = () => rpc.request({ method: 'a' })
    for (let i = 0; i < 5; i++) await expect(ask()).rejects.toMatchObject({ kind: 'server' })
    const tries = fickle.calls.length
    await expect(ask()).rejects.toMatchObject({ kind: 'open', retryAfterMs: 5_000 })
    expect(fickle.calls).toHaveLength(tries)
    well = true
    clock.advance(5_001)
    expect(await ask()).toBe('a')
  })

  it('gives every eth_call that names no gas the most a batch of reads may use, and leaves the others', async () => {
    const seen: unknown[] = []
    const own = await node((body) => {
      for (const each of [body].flat()) seen.push((each as { params?: unknown }).params)
      return healthy(body)
    })
    const rpc = createRpc(quick(), [own.url], { readGas: 50_000_000 })
    const call = { to: '0x01', data: '0x' }
    await rpc.request({ method: 'eth_call', params: [call, 'latest'] })
    await rpc.request({ method: 'eth_call', params: [{ ...call, gas: '0x5208' }, 'latest'] })
    await rpc.batch([
      { method: 'eth_call', params: [call, 'latest'] },
      { method: 'eth_getCode', params: ['0x01'] },
    ])
    const capped = [{ ...call, gas: '0x2faf080' }, 'latest']
    expect(seen).toEqual([capped, [{ ...call, gas: '0x5208' }, 'latest'], capped, ['0x01']])
  })
})
