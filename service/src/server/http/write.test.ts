import T from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { buildProbeApp } from '../../../test/probes.js'
import { conflict, unavailable } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { defineOperation, type Operation, written } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'

/** What a test does in the middle of a write, after its row is there. */
let inWrite: (tx: Transaction, text: string) => Promise<unknown>

const common = {
  method: 'POST',
  summary: '',
  description: '',
  tag: 'test',
  access: 'publishable',
  cost: 1,
  body: T.Object({ text: T.String() }),
  responses: { 200: T.Object({}) },
} as const

const probes: Operation<Context>[] = [
  defineOperation({
    ...common,
    operationId: 'Change',
    path: '/v2/change',
    run: async (_ctx, { text }) => {
      if (text === 'refused') throw unavailable('not now')
      const body = text === 'unprintable' ? { text: 1n } : { text }
      return written(body, async (tx: Transaction) => {
        await tx`insert into notes (text) values (${text})`
        await inWrite(tx, text)
      })
    },
  }),
  defineOperation({
    ...common,
    operationId: 'Show',
    path: '/v2/show',
    run: async (_ctx, { text }) => ({ body: text, write: 'a member like any other' }),
  }),
]

let earn: Earn
let app: ReturnType<typeof buildProbeApp>
beforeAll(async () => {
  earn = await openEarn()
  const { db } = earn
  await db`create table notes (text text not null)`
  await db`create table promises (text text not null, unique (text) deferrable initially deferred)`
  // A commit in whose middle the server ends the connection.
  await db`create table ends (text text not null)`
  await db`create function end_connection() returns trigger language plpgsql as
    'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`
  await db`create constraint trigger ends after insert on ends deferrable initially deferred
    for each row execute function end_connection()`
  app = buildProbeApp(earn.ctx, probes)
})
beforeEach(() => {
  inWrite = async () => undefined
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

const kept = async () => (await earn.db`select from idempotency_keys where status is not null`).length
const countNotes = async (text: string) => (await earn.db`select from notes where text = ${text}`).length

describe.each([
  ['under an Idempotency-Key', () => ({ 'idempotency-key': newId() })],
  ['without an Idempotency-Key', () => ({})],
])('an operation that writes, %s,', (name, newHeaders) => {
  const newSender = () => {
    const headers = { 'x-api-key': earn.publishable, 'content-type': 'application/json', ...newHeaders() }
    return (text: string, url = '/v2/change') => app.inject({ method: 'POST', url, headers, payload: { text } })
  }

  it('is answered when its write is committed', async () => {
    const text = `good ${name}`
    const answer = await newSender()(text)
    expect([answer.statusCode, answer.json()]).toEqual([200, { text }])
    expect(await countNotes(text)).toBe(1)
  })

  it('answers the conflict its write throws, and keeps neither row nor answer', async () => {
    const send = newSender()
    const before = await kept()
    inWrite = async () => {
      throw conflict('the symbol is taken')
    }
    const answer = await send('conflict')
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({ code: 409, status: 'CONFLICT', error: 'the symbol is taken' })
    expect([await countNotes('conflict'), await kept()]).toEqual([0, before])
    inWrite = async () => undefined
    const text = `after a conflict ${name}`
    const again = await send(text)
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([200, undefined])
    expect(await countNotes(text)).toBe(1)
  })

  it('whose commit a constraint refuses is not answered 200, and keeps neither row nor answer', async () => {
    const before = await kept()
    inWrite = (tx) => tx`insert into promises (text) values ('twice'), ('twice')`
    const answer = await newSender()('refused late')
    expect([answer.statusCode, answer.json().status]).toEqual([500, 'INTERNAL'])
    expect([await countNotes('refused late'), await kept()]).toEqual([0, before])
  })

  it.each([
    ['its write', (tx: Transaction) => tx`select pg_terminate_backend(pg_backend_pid())`],
    ['its commit', (tx: Transaction) => tx`insert into ends (text) values ('now')`],
  ])('whose connection ends in %s is answered 503, and keeps neither row nor answer', async (_name, end) => {
    const before = await kept()
    inWrite = end
    const answer = await newSender()('cut off')
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'UNAVAILABLE'])
    expect([await countNotes('cut off'), await kept()]).toEqual([0, before])
  })

  it('writes nothing where it refuses, and nothing where its body cannot be sent', async () => {
    const before = await kept()
    expect((await newSender()('refused')).statusCode).toBe(503)
    expect((await newSender()('unprintable')).statusCode).toBe(500)
    expect([await countNotes('refused'), await countNotes('unprintable'), await kept()]).toEqual([0, 0, before])
  })

  it('is not mistaken for one whose body has the same members', async () => {
    const answer = await newSender()('a text', '/v2/show')
    expect([answer.statusCode, answer.json()]).toEqual([200, { body: 'a text', write: 'a member like any other' }])
  })
})
