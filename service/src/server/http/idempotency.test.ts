import { connect } from 'node:net'
import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { buildProbeApp } from '../../../test/probes.js'
import { formatTs } from '../../kernel/clock.js'
import { permissionDenied, unavailable } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { defineOperation, type Operation, written } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'

/** Lets a test hold operations in the middle of their write. */
const gate = { runs: 0, held: 0, hold: undefined as Promise<void> | undefined }

const record: Operation<Context> = defineOperation({
  operationId: 'Record',
  method: 'POST',
  path: '/v2/record/{place}',
  summary: '',
  description: '',
  tag: 'test',
  access: 'publishable',
  cost: 10,
  params: T.Object({ place: T.String() }),
  query: T.Object({ round: T.Optional(T.String()) }),
  body: T.Object({ text: T.String(), fail: T.Optional(T.String()), note: T.Optional(T.String()) }),
  responses: { 200: T.Object({}) },
  run: async (ctx, { text, fail }) => {
    gate.runs += 1
    await ctx.db`select count(*) from notes`
    // "expiresAt 2026-…": the answer says how long it holds.
    const [until, at] = fail?.split(' ') ?? []
    const body = { run: gate.runs, text, ...(until && at ? { [until]: at } : {}) }
    return written(body, async (tx: Transaction) => {
      await tx`insert into notes (id, text) values (${newId()}, ${text})`
      gate.held += 1
      await gate.hold
      if (fail === '400') throw invalid()
      if (fail === '503') throw unavailable('not now', { retryAfterSeconds: 3 })
      if (fail === '500') throw new Error('broken')
    })
  },
  assertMayRepeat: (_ctx, { text }: { text: string }, { distributorId }) => {
    if (text === 'private' && distributorId !== null) throw permissionDenied('not yours')
  },
})
const other: Operation<Context> = { ...record, operationId: 'Other', path: '/v2/other/{place}' }

function invalid() {
  return Object.assign(unavailable('no such thing'), { code: 400, status: 'INVALID_ARGUMENT', context: { why: 'x' } })
}

let earn: Earn
let app: ReturnType<typeof buildProbeApp>
beforeAll(async () => {
  earn = await openEarn()
  await earn.db`create table notes (id uuid primary key, text text not null)`
  app = buildProbeApp(earn.ctx, [record, other])
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

type Sent = { key?: string; url?: string; headers?: Record<string, string>; to?: typeof app }
const send = (idempotencyKey: string, payload: object | string, { key, url, headers, to = app }: Sent = {}) =>
  to.inject({
    method: 'POST',
    url: url ?? '/v2/record/here',
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: {
      'x-api-key': key ?? earn.publishable,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...headers,
    },
  })
const countNotes = async (text: string) => (await earn.db`select from notes where text = ${text}`).length

const untilHeld = async (before: number) => {
  while (gate.held === before) await new Promise((resolve) => setImmediate(resolve))
}

describe('an Idempotency-Key', () => {
  it('repeats the answer of the same request byte for byte, for 1 unit and with fresh limit headers', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 100 })
    const first = await send('k1', { text: 'one', note: 'x' }, { key })
    expect(first.statusCode).toBe(200)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    for (const [name, body, url] of [
      ['k1', '{"text":"one","note":"x"}', '/v2/record/here'],
      ['"k1"', ' { "note": "x", "text": "one" } ', '/v2/record/here/'],
    ] as const) {
      const again = await send(name, body, { key, url })
      expect(again.statusCode).toBe(200)
      expect(again.body).toBe(first.body)
      expect(again.headers['idempotency-replayed']).toBe('true')
      expect(again.headers['x-request-cost']).toBe('1')
    }
    expect((await send('k1', { text: 'one', note: 'x' }, { key })).headers['x-ratelimit-used']).toBe('13')
    expect(await countNotes('one')).toBe(1)
  })

  it('is spent after 24 hours', async () => {
    await send('day', { text: 'day' })
    earn.clock.advance(24 * 3_600_000 - 1)
    expect((await send('day', { text: 'day' })).headers['idempotency-replayed']).toBe('true')
    earn.clock.advance(1)
    expect((await send('day', { text: 'day' })).headers['idempotency-replayed']).toBeUndefined()
    expect(await countNotes('day')).toBe(2)
  })

  it('is refused with 409 for any other request: body, path, query, operation', async () => {
    await send('k2', { text: 'two' })
    const others: [object, string][] = [
      [{ text: 'three' }, '/v2/record/here'],
      [{ text: 'two' }, '/v2/record/there'],
      [{ text: 'two' }, '/v2/record/here?round=2'],
      [{ text: 'two' }, '/v2/other/here'],
    ]
    for (const [body, url] of others) {
      const answer = await send('k2', body, { url })
      expect(answer.statusCode).toBe(409)
      expect(answer.json()).toMatchObject({ code: 409, status: 'CONFLICT' })
      expect(answer.headers['retry-after']).toBeUndefined()
    }
    expect((await send('k2', { text: 'two' })).statusCode).toBe(200)
  })

  it('is kept until the time the answer names itself, later or sooner than 24 hours', async () => {
    for (const [name, seconds] of [
      ['expiresAt', 600],
      ['validUntil', 2 * 86_400],
    ] as const) {
      const until = new Date(earn.clock.now().getTime() + seconds * 1000)
      const request = { text: name, fail: `${name} ${formatTs(until)}` }
      await send(`until ${name}`, request)
      earn.clock.advance(seconds * 1000 - 1)
      expect((await send(`until ${name}`, request)).headers['idempotency-replayed']).toBe('true')
      earn.clock.advance(1)
      const free = await send(`until ${name}`, { text: 'another' })
      expect([free.statusCode, free.headers['idempotency-replayed']]).toEqual([200, undefined])
    }
  })

  it("belongs to the organization: its keys of one kind share it, another organization's do not", async () => {
    await send('k3', { text: 'shared' })
    const second = await earn.key({ kind: 'publishable' })
    expect((await send('k3', { text: 'shared' }, { key: second })).headers['idempotency-replayed']).toBe('true')
    const stranger = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
    expect((await send('k3', { text: 'shared' }, { key: stranger })).headers['idempotency-replayed']).toBeUndefined()
    expect(await countNotes('shared')).toBe(2)
  })

  it('of a publishable key never meets the same one of a secret key', async () => {
    await send('both', { text: 'public' })
    const backend = await send('both', { text: 'backend' }, { key: earn.secret })
    expect([backend.statusCode, backend.headers['idempotency-replayed']]).toEqual([200, undefined])
    expect((await send('both', { text: 'public' })).headers['idempotency-replayed']).toBe('true')
    expect((await send('both', { text: 'backend' }, { key: earn.secret })).body).toBe(backend.body)
  })

  it('gives a kept answer to nobody who may not have it, and charges what asking for it costs', async () => {
    const keys = { hourlyUnits: 100, kind: 'publishable' } as const
    await send('private', { text: 'private' })
    const bound = await earn.key({ ...keys, distributorId: await earn.distributor() })
    const refused = await send('private', { text: 'private' }, { key: bound })
    expect([refused.statusCode, refused.headers['idempotency-replayed']]).toEqual([403, undefined])
    expect([refused.headers['x-request-cost'], refused.headers['x-ratelimit-used']]).toEqual(['10', '10'])
    expect(refused.body).not.toContain('"run"')
    const unbound = await send('private', { text: 'private' }, { key: await earn.key(keys) })
    expect(unbound.headers['idempotency-replayed']).toBe('true')
  })

  it('lets one of 50 twins do the work; the others are told to come back in a second', async () => {
    let open = () => undefined as undefined
    gate.hold = new Promise((resolve) => {
      open = () => resolve() as undefined
    })
    const twins = Promise.all(Array.from({ length: 50 }, () => send('k4', { text: 'twins' })))
    const waitForRefused = async () => {
      while ((await send('k4', { text: 'twins' })).statusCode !== 409);
    }
    await waitForRefused()
    open()
    gate.hold = undefined
    const answers = await twins
    const served = answers.filter(({ statusCode }) => statusCode === 200)
    const refused = answers.filter(({ statusCode }) => statusCode === 409)
    expect(served.length + refused.length).toBe(50)
    expect(new Set(served.map(({ body }) => body)).size).toBe(1)
    for (const answer of refused) {
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.json()).toMatchObject({ status: 'CONFLICT', context: { retryable: true } })
    }
    expect(await countNotes('twins')).toBe(1)
  })

  it('is free again after any refusal, and nothing of the refused request stays', async () => {
    for (const fail of ['400', '503', '500']) {
      expect((await send(`free-${fail}`, { text: 'free', fail })).statusCode).toBe(Number(fail))
      const again = await send(`free-${fail}`, { text: 'free', fail })
      expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([Number(fail), undefined])
      expect((await send(`free-${fail}`, { text: `freed ${fail}` })).statusCode).toBe(200)
    }
    expect(await countNotes('free')).toBe(0)
    expect((await send('k6', {})).statusCode).toBe(400)
    expect((await send('k6', { text: 'six' })).statusCode).toBe(200)
  })

  it('is not taken by 401, 403, 413, 415 and 429', async () => {
    const origin = await earn.key({ kind: 'publishable', origins: ['https://app.example'] })
    const poor = await earn.key({ kind: 'publishable', hourlyUnits: 9 })
    const refusals: [number, () => ReturnType<typeof send>][] = [
      [401, () => send('k7', { text: 'seven' }, { key: 'nonsense' })],
      [403, () => send('k7', { text: 'seven' }, { key: origin, headers: { origin: 'https://evil.example' } })],
      [413, () => send('k7', { text: 'x'.repeat(70_000) })],
      [415, () => send('k7', 'text=seven', { headers: { 'content-type': 'text/plain' } })],
      [429, () => send('k7', { text: 'seven' }, { key: poor })],
    ]
    for (const [status, refuse] of refusals) expect((await refuse()).statusCode).toBe(status)
    const rows = await earn.db`select from idempotency_keys where key = 'k7'`
    expect(rows.length).toBe(0)
    expect((await send('k7', { text: 'seven' })).statusCode).toBe(200)
    expect(await countNotes('seven')).toBe(1)
  })

  it('costs 1 to repeat, where there is room for the whole cost; a 429 writes no row and reads no answer', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 21 })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await send('k8', { text: 'eight' }, { key })).statusCode)
    expect(statuses).toEqual([200, 200, 200, 429])
    const changes = () => earn.db`select xmin, ctid from idempotency_keys`
    const before = await changes()
    for (const name of ['k8', 'new']) expect((await send(name, { text: 'more' }, { key })).statusCode).toBe(429)
    expect(await changes()).toEqual(before)
    expect((await send('k8', { text: 'eight' }, { key })).headers['x-ratelimit-used']).toBe('12')
  })

  it('is free 60 s after the process working on it died, and not before', async () => {
    const before = gate.held
    const dying = buildProbeApp(earn.ctx, [record])
    let open = () => undefined as undefined
    gate.hold = new Promise((resolve) => {
      open = () => resolve() as undefined
    })
    // Not answered by then: to the database it looks like a process that is gone.
    const lost = send('k9', { text: 'nine' }, { to: dying })
    await untilHeld(before)
    gate.hold = undefined
    earn.clock.advance(59_999)
    expect((await send('k9', { text: 'nine' })).statusCode).toBe(409)
    earn.clock.advance(1)
    expect((await send('k9', { text: 'nine' })).statusCode).toBe(200)
    expect(await countNotes('nine')).toBe(1)
    open()
    expect((await lost).statusCode).toBe(409)
    expect(await countNotes('nine')).toBe(1)
  })

  it('undoes the work of a request that outlived its lease when another took its place', async () => {
    let open = () => undefined as undefined
    gate.hold = new Promise((resolve) => {
      open = () => resolve() as undefined
    })
    const before = gate.held
    const slow = send('k10', { text: 'ten' })
    await untilHeld(before)
    gate.hold = undefined
    earn.clock.advance(60_000)
    const taken = await send('k10', { text: 'ten' })
    open()
    expect(taken.statusCode).toBe(200)
    expect((await slow).statusCode).toBe(409)
    expect(await countNotes('ten')).toBe(1)
    expect((await send('k10', { text: 'ten' })).body).toBe(taken.body)
  })

  it('must be well-formed, and a body that is no JSON takes no key', async () => {
    for (const bad of ['', '"open', '""', 'é', 'x'.repeat(256)]) {
      const answer = await send(bad, { text: 'bad' })
      expect(answer.statusCode).toBe(400)
      expect(answer.headers['x-request-cost']).toBe('1')
      expect(answer.json().context.violations).toMatchObject([{ path: 'Idempotency-Key' }])
    }
    expect((await send('k11', '{"text":')).statusCode).toBe(400)
    expect((await send('k11', { text: 'eleven' })).statusCode).toBe(200)
    expect(await countNotes('bad')).toBe(0)
  })

  it('given twice is refused, also where both are the same', async () => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const names of [
      ['a', 'b'],
      ['a', 'a'],
    ] as const) {
      const answer = await sendRaw(`${url}/v2/record/here`, names)
      expect(answer).toMatch(/^HTTP\/1.1 400 /)
      expect(answer).toMatch(/Idempotency-Key must be given once/)
    }
    expect(await sendRaw(`${url}/v2/record/here`, ['a'])).toMatch(/^HTTP\/1.1 200 /)
    expect(await countNotes('raw')).toBe(1)
  })
})

function sendRaw(url: string, idempotencyKeys: readonly string[]): Promise<string> {
  const { hostname, port, pathname } = new URL(url)
  const body = JSON.stringify({ text: 'raw' })
  const head = [
    ...[`POST ${pathname} HTTP/1.1`, `Host: ${hostname}`, 'Connection: close', `X-API-Key: ${earn.publishable}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`],
    ...idempotencyKeys.map((key) => `Idempotency-Key: ${key}`),
  ]
  return new Promise((resolve, reject) => {
    let said = ''
    const socket = connect(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      said += chunk
    })
    socket.on('end', () => resolve(said))
    socket.on('error', reject)
  })
}
