import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../test/harness.js'
import { buildProbeApp } from '../../test/probes.js'
import { unavailable } from '../kernel/errors.js'
import { newId } from '../kernel/ids.js'
import { defineOperation, type Operation } from '../kernel/operation.js'

/** Lets a test hold operations in the middle of their work. */
const gate = { runs: 0, held: 0, hold: undefined as Promise<void> | undefined }

const record: Operation = defineOperation({
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
    await ctx.db`insert into notes (id, text) values (${newId()}, ${text})`
    gate.held += 1
    await gate.hold
    if (fail === '400') throw invalid()
    if (fail === '503') throw unavailable('not now', { retryAfterSeconds: 3 })
    if (fail === '500') throw new Error('broken')
    return { run: gate.runs, text }
  },
})
const other: Operation = { ...record, operationId: 'Other', path: '/v2/other/{place}' }

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
const written = async (text: string) => (await earn.db`select from notes where text = ${text}`).length

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
    expect(await written('one')).toBe(1)
  })

  it('is spent after 24 hours', async () => {
    await send('day', { text: 'day' })
    earn.clock.advance(24 * 3_600_000 - 1)
    expect((await send('day', { text: 'day' })).headers['idempotency-replayed']).toBe('true')
    earn.clock.advance(1)
    expect((await send('day', { text: 'day' })).headers['idempotency-replayed']).toBeUndefined()
    expect(await written('day')).toBe(2)
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

  it("belongs to the organization: its keys share it, another organization's do not", async () => {
    await send('k3', { text: 'shared' })
    expect((await send('k3', { text: 'shared' }, { key: earn.secret })).headers['idempotency-replayed']).toBe('true')
    const stranger = await earn.key({ kind: 'publishable', organizationId: await earn.organization() })
    expect((await send('k3', { text: 'shared' }, { key: stranger })).headers['idempotency-replayed']).toBeUndefined()
    expect(await written('shared')).toBe(2)
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
    for (const answer of refused) expect(answer.headers['retry-after']).toBe('1')
    expect(await written('twins')).toBe(1)
  })

  it("keeps the operation's own refusal and undoes what it had written", async () => {
    const first = await send('k5', { text: 'five', fail: '400' })
    expect(first.statusCode).toBe(400)
    const again = await send('k5', { text: 'five', fail: '400' })
    expect([again.statusCode, again.body]).toEqual([400, first.body])
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await written('five')).toBe(0)
    const schema = await send('k6', {})
    expect((await send('k6', {})).body).toBe(schema.body)
  })

  it('is free again after 503 and 500, and nothing of the failed request stays', async () => {
    for (const fail of ['503', '500']) {
      expect((await send(`free-${fail}`, { text: 'free', fail })).statusCode).toBe(Number(fail))
      expect((await send(`free-${fail}`, { text: `freed ${fail}` })).statusCode).toBe(200)
    }
    expect(await written('free')).toBe(0)
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
    expect((await send('k7', { text: 'seven' })).statusCode).toBe(200)
    expect(await written('seven')).toBe(1)
  })

  it('repeats an answer even to a budget that could not pay for the work', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 11 })
    await send('k8', { text: 'eight' }, { key })
    expect((await send('k8', { text: 'eight' }, { key })).statusCode).toBe(200)
    expect((await send('k8', { text: 'eight' }, { key })).statusCode).toBe(429)
  })

  it('is free 60 s after the process working on it died, and not before', async () => {
    const before = gate.held
    const dying = buildProbeApp(earn.ctx, [record])
    gate.hold = new Promise(() => undefined)
    // Never answered: to the database it looks like a process that is gone.
    void send('k9', { text: 'nine' }, { to: dying })
    await untilHeld(before)
    gate.hold = undefined
    earn.clock.advance(59_999)
    expect((await send('k9', { text: 'nine' })).statusCode).toBe(409)
    earn.clock.advance(1)
    expect((await send('k9', { text: 'nine' })).statusCode).toBe(200)
    expect(await written('nine')).toBe(1)
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
    expect(await written('ten')).toBe(1)
    expect((await send('k10', { text: 'ten' })).body).toBe(taken.body)
  })

  it('must be well-formed, and a body that is no JSON takes no key', async () => {
    for (const bad of ['', '"open', '""', 'é', 'x'.repeat(256)]) {
      const answer = await send(bad, { text: 'bad' })
      expect(answer.statusCode).toBe(400)
      expect(answer.headers['x-request-cost']).toBe('10')
    }
    expect((await send('k11', '{"text":')).statusCode).toBe(400)
    expect((await send('k11', { text: 'eleven' })).statusCode).toBe(200)
    expect(await written('bad')).toBe(0)
  })
})
