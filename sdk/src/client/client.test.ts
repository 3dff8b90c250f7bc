import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  all,
  createDepositInteraction,
  createEarnClient,
  type EarnClientOptions,
  EarnError,
  getChains,
  getOpportunity,
  listOpportunities,
  postStreamsBulk,
  type ResponseInfo,
} from './index.js'

type Seen = { method: string; url: string; headers: IncomingMessage['headers']; body: string }
type Reply = {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  text?: string
  drop?: boolean
  hang?: boolean
  /** Runs when a request that is not answered has come. */
  arrived?: () => void
}

let server: Server
let baseUrl: string
const seen: Seen[] = []
const replies: Reply[] = []

async function answer(request: IncomingMessage, response: ServerResponse) {
  let body = ''
  for await (const part of request) body += part
  seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
  const { status = 200, headers = {}, text, body: value = {}, drop, hang, arrived } = replies.shift() ?? {}
  if (drop) return void request.socket.destroy()
  if (hang) return arrived?.()
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text ?? JSON.stringify(value))
}

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen.length = 0
  replies.length = 0
})

const open = (options: Partial<EarnClientOptions> = {}) =>
  createEarnClient({ baseUrl, apiKey: 'pk_live_x', ...options })
const refusal = (code: number, status: string, more: object = {}) => ({
  status: code,
  body: { code, status, error: 'a sentence', context: {}, ...more },
})
const failureOf = async (call: Promise<unknown>): Promise<EarnError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof EarnError)) throw new Error(`expected an EarnError, got ${String(error)}`)
  return error
}
const page = (items: unknown[], at: number, totalPages: number) => ({
  body: { data: items, pagination: { page: at, limit: 100, total: 0, totalPages } },
})
const id = '117fbf7f-1755-5202-9bea-f02ff57091cb'
const deposit = {
  opportunityId: id,
  userAddress: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  tokenIn: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  amount: 10n ** 30n,
  distributorId: 'acme',
} as const

describe('a call', () => {
  it('puts each member where the operation wants it: path, query, body', async () => {
    await getOpportunity(open(), { id, includeDeltas: true })
    await createDepositInteraction(open(), deposit)
    await postStreamsBulk(open(), { page: 2, ids: [id] })
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /v2/opportunities/${id}?includeDeltas=true`,
      `POST /v2/actions/deposit/${id}`,
      'POST /v2/streams/bulk?page=2',
    ])
    const { opportunityId, ...rest } = deposit
    expect(JSON.parse(seen[1]!.body)).toEqual({ ...rest, amount: `1${'0'.repeat(30)}` })
    expect(JSON.parse(seen[2]!.body)).toEqual({ ids: [id] })
    expect([opportunityId, seen[0]!.body]).toEqual([id, ''])
  })

  it('joins lists by commas, writes instants as RFC 3339 and leaves out what is undefined or null', async () => {
    await listOpportunities(open(), { chainIds: [1, 31337], tags: 'a&b', search: undefined, featured: null })
    const { searchParams } = new URL(seen[0]!.url, baseUrl)
    expect(Object.fromEntries(searchParams)).toEqual({ chainIds: '1,31337', tags: 'a&b' })
  })

  it.each(['', '.', '..', undefined])(
    'refuses %j as a part of a path: it would name another operation',
    async (value) => {
      await expect(async () => getOpportunity(open(), { id: value as string })).rejects.toThrow(TypeError)
      expect(seen).toEqual([])
    },
  )

  it('escapes a part of a path', async () => {
    await getOpportunity(open(), { id: 'a/../b?c#d' })
    expect(seen[0]!.url).toBe('/v2/opportunities/a%2F..%2Fb%3Fc%23d')
  })

  it('sends the key, the headers of client and call, and no body with a GET', async () => {
    await getChains(open({ headers: { 'x-one': '1' } }), {}, { headers: { 'x-two': '2' } })
    expect(seen[0]!.headers).toMatchObject({ 'x-api-key': 'pk_live_x', 'x-one': '1', 'x-two': '2' })
    expect(seen[0]!.headers).not.toHaveProperty('idempotency-key')
  })

  it('takes a path of a proxy, with and without a slash at its end, and no key', async () => {
    const client = createEarnClient({ baseUrl: `${baseUrl}/earn//` })
    await getChains(client)
    expect(seen[0]).toMatchObject({ url: '/earn/v2/chains/' })
    expect(seen[0]!.headers).not.toHaveProperty('x-api-key')
  })

  it('uses the fetch it is given', async () => {
    const client = open({ fetch: async () => new Response('{"data":[7]}') })
    expect(await getChains(client)).toEqual({ data: [7] })
    expect(seen).toEqual([])
  })
})

describe('a key', () => {
  it('that is secret is refused in a page and taken elsewhere', () => {
    expect(() => open({ apiKey: 'sk_live_x' })).not.toThrow()
    Object.assign(globalThis, { document: {} })
    try {
      expect(() => open({ apiKey: 'sk_live_x' })).toThrow(/no secret key in a page/)
      expect(() => open({ apiKey: 'pk_live_x' })).not.toThrow()
    } finally {
      Reflect.deleteProperty(globalThis, 'document')
    }
  })

  it('does not travel with a redirect', async () => {
    replies.push({ status: 307, headers: { location: `${baseUrl}/elsewhere` } })
    expect(await failureOf(getChains(open()))).toMatchObject({ code: 307, status: 'UNREADABLE' })
    expect(seen).toHaveLength(1)
  })

  it.each(['', 'earn.example', 'ftp://earn.example', 'javascript:alert(1)'])(
    'needs a url to go to: %j is none',
    (url) => {
      expect(() => createEarnClient({ baseUrl: url })).toThrow(/baseUrl/)
    },
  )
})

describe('a refusal', () => {
  it('is an EarnError with the members of the error body', async () => {
    const body = { reason: 'NO_ROUTE', context: { retryable: false } }
    replies.push({ ...refusal(400, 'INVALID_ARGUMENT', body), headers: { 'x-request-id': 'r1' } })
    const error = await failureOf(createDepositInteraction(open(), deposit))
    expect(error).toMatchObject({
      name: 'EarnError',
      operation: 'CreateDepositInteraction',
      code: 400,
      status: 'INVALID_ARGUMENT',
      requestId: 'r1',
      ...body,
    })
    expect(error.message).toBe('CreateDepositInteraction: 400 INVALID_ARGUMENT a sentence')
  })

  it.each([
    ['HTML instead of JSON', { text: '<html>' }, 200],
    ['a number instead of an object', { text: '7' }, 200],
    ['a gateway that says 404 in HTML', { status: 404, text: '<html>' }, 404],
    ['JSON that is not the error body', { status: 418, body: [1] }, 418],
  ])('is UNREADABLE where the answer is %s', async (_, reply, code) => {
    replies.push(reply)
    expect(await failureOf(getChains(open()))).toMatchObject({ code, status: 'UNREADABLE', context: {} })
  })

  it('is UNREACHABLE with its cause where nobody answers, TIMEOUT where the answer is late', async () => {
    replies.push({ drop: true }, { hang: true })
    const dropped = await failureOf(getChains(open({ retries: 0 })))
    expect(dropped).toMatchObject({ code: 0, status: 'UNREACHABLE' })
    expect(dropped.cause).toBeInstanceOf(Error)
    expect(await failureOf(getChains(open({ retries: 0, timeoutMs: 50 })))).toMatchObject({ status: 'TIMEOUT' })
  })
})

describe('a repetition', () => {
  const soon = { headers: { 'retry-after': '0.01' } }
  it.each([408, 429, 500, 502, 503, 504])(
    'follows a %d that names its wait, twice unless told otherwise',
    async (code) => {
      replies.push(
        { ...refusal(code, 'UNAVAILABLE'), ...soon },
        { ...refusal(code, 'UNAVAILABLE'), ...soon },
        { body: { ok: 1 } },
      )
      expect(await getChains(open())).toEqual({ ok: 1 })
      replies.push({ ...refusal(code, 'UNAVAILABLE'), ...soon }, { ...refusal(code, 'UNAVAILABLE'), ...soon })
      expect(await failureOf(getChains(open({ retries: 1 })))).toMatchObject({ code })
      expect(seen).toHaveLength(5)
    },
  )

  it.each([400, 401, 403, 404, 409, 412, 413])('does not follow a %d', async (code) => {
    replies.push({ ...refusal(code, 'NOT_FOUND'), ...soon })
    expect(await failureOf(getChains(open()))).toMatchObject({ code })
    expect(seen).toHaveLength(1)
  })

  it('follows a twin that still runs, and no 503 that says it is in vain', async () => {
    replies.push({ ...refusal(409, 'CONFLICT', { context: { retryable: true } }), ...soon }, { body: { actionId: id } })
    expect(await createDepositInteraction(open(), deposit)).toEqual({ actionId: id })
    replies.push({ ...refusal(503, 'UNAVAILABLE', { context: { retryable: false } }), ...soon })
    expect(await failureOf(getChains(open()))).toMatchObject({ code: 503 })
    expect(seen).toHaveLength(3)
  })

  it('of a POST carries the same key and body; another call has another key, or the one it is given', async () => {
    replies.push({ drop: true })
    await createDepositInteraction(open(), deposit)
    await createDepositInteraction(open(), deposit)
    await createDepositInteraction(open(), deposit, { idempotencyKey: 'mine' })
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[\d-]{7,43}$/)
    expect([keys[1] === keys[0], keys[2] === keys[0], keys[3]]).toEqual([true, false, 'mine'])
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1)
  })

  it('does not wait longer than it may: a used-up hour is thrown at once', async () => {
    replies.push({ ...refusal(429, 'RESOURCE_EXHAUSTED'), headers: { 'retry-after': '3600' } })
    const error = await failureOf(getChains(open()))
    expect([error.code, error.retryAfter, seen.length]).toEqual([429, 3600, 1])
  })

  it('ends, as the call does, with the signal of the caller', async () => {
    const reason = new Error('enough')
    for (const reply of [{ hang: true }, { ...refusal(503, 'UNAVAILABLE'), headers: { 'retry-after': '9' } }]) {
      const ended = new AbortController()
      const end = () => ended.abort(reason)
      replies.push({ ...reply, arrived: end })
      const call = getChains(open({ onResponse: end }), {}, { signal: ended.signal })
      await expect(call).rejects.toBe(reason)
    }
    await expect(getChains(open(), {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(seen).toHaveLength(2)
  })
})

describe('what a call says of itself', () => {
  it('is cost and remaining budget of each attempt', async () => {
    const told: ResponseInfo[] = []
    const budget = (cost: string, remaining: string) => ({ 'x-request-cost': cost, 'x-ratelimit-remaining': remaining })
    replies.push({ drop: true }, { headers: budget('1', '0'), body: {} })
    await getChains(open({ onResponse: (info) => told.push(info) }))
    expect(
      told.map(({ headers, requestId, retryAfter, ...rest }) => ({ ...rest, named: headers.get('content-type') })),
    ).toEqual([
      { operation: 'GetChains', code: 0, attempt: 0, cost: undefined, remaining: undefined, named: null },
      { operation: 'GetChains', code: 200, attempt: 1, cost: 1, remaining: 0, named: 'application/json' },
    ])
  })
})

describe('a list', () => {
  it('is walked page by page, each asked for when it is wanted', async () => {
    replies.push(page([1, 2], 1, 3), page([3], 2, 3), page([4], 3, 3))
    const items: unknown[] = []
    for await (const item of all(open(), listOpportunities, { tags: 'x' })) {
      items.push(item)
      if (items.length === 1) expect(seen).toHaveLength(1)
    }
    expect(items).toEqual([1, 2, 3, 4])
    expect(seen.map(({ url }) => url)).toEqual([1, 2, 3].map((n) => `/v2/opportunities/?limit=100&tags=x&page=${n}`))
  })

  it('begins at the page asked for and ends where a page is empty', async () => {
    replies.push(page([1], 2, 3), page([], 3, 0))
    const items: unknown[] = []
    for await (const item of all(open(), getChains, { page: 2, limit: 5 })) items.push(item)
    expect([items, seen.map(({ url }) => url)]).toEqual([
      [1],
      ['/v2/chains/?limit=5&page=2', '/v2/chains/?limit=5&page=3'],
    ])
  })
})
