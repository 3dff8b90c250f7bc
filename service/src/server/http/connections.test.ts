import { type AddressInfo, connect, type Socket } from 'node:net'
import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createAuthenticate } from '../../features/auth/index.js'
import { openLimits } from '../../features/limits/index.js'
import { systemClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { defineOperation } from '../../kernel/operation.js'
import { buildPublicApp } from './http.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

const operation = defineOperation({
  ...{ summary: '', description: '', tag: 'test', operationId: 'Post', method: 'POST', path: '/v2/post' },
  ...{ access: 'publishable', cost: 1, body: T.Object({}), responses: { 200: T.Object({}) } },
  run: async () => ({}),
})

/** A listener, what it logged as errors, and what failed in it. */
async function listen() {
  const errors: unknown[] = []
  const failures: string[] = []
  const log = { ...silentLog, error: (...words: unknown[]) => errors.push(words) } as never
  const app = buildPublicApp({
    ctx: { ...earn.ctx, log },
    operations: [operation],
    authenticate: createAuthenticate(earn.ctx),
    limits: openLimits(earn.ctx),
  })
  app.addHook('onError', async (_request, _reply, error) => {
    failures.push(error.message)
  })
  // The body is being read one turn of the event loop later.
  const reading = new Promise<void>((resolve) =>
    app.addHook('preParsing', async () => {
      setImmediate(resolve)
    }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, errors, failures, reading, port: (app.server.address() as AddressInfo).port }
}

/** Sends a head and the first byte of a body that is announced as longer. */
function drip(
  port: number,
  key: string | undefined,
  length = 100,
): Promise<{ socket: Socket; closed: Promise<string> }> {
  return new Promise((resolve, reject) => {
    const lines = ['POST /v2/post HTTP/1.1', 'Host: a', 'Content-Type: application/json', `Content-Length: ${length}`]
    const socket = connect(port, '127.0.0.1', () => {
      socket.write([...lines, ...(key ? [`X-API-Key: ${key}`] : []), '', '{'].join('\r\n'), () =>
        resolve({ socket, closed }),
      )
    })
    let said = ''
    socket.on('data', (chunk) => {
      said += String(chunk)
    })
    const closed = new Promise<string>((done) => socket.on('close', () => done(said)))
    socket.on('error', reject)
  })
}

describe('a caller who sends the body of its request slowly', () => {
  it('gets 408 in four members for nothing when its time is over, and for a slow head as well', async () => {
    const { app, port } = await listen()
    app.server.requestTimeout = 1
    app.server.headersTimeout = 1
    const { closed } = await drip(port, earn.publishable)
    const head = connect(port, '127.0.0.1', () => head.write('GET /v2/post HTTP/1.1\r\nHost: a\r\n'))
    const ended = new Promise<string>((done) => head.once('data', (chunk) => done(String(chunk))))
    for (const said of [await closed, await ended]) {
      const [lines = '', body = ''] = said.split('\r\n\r\n')
      expect(lines).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
      expect(lines).toMatch(/^X-Request-Cost: 0$/m)
      expect(JSON.parse(body)).toMatchObject({ code: 408, status: 'DEADLINE_EXCEEDED', context: {} })
    }
    await app.close()
  })

  it('does not keep the connection once it is refused', async () => {
    const { app, port } = await listen()
    const { closed } = await drip(port, undefined)
    const said = await closed
    expect(said).toMatch(/^HTTP\/1.1 401 /)
    expect(said).toMatch(/^connection: close$/im)
    await app.close()
  })

  it('does not keep the connection where the body announced is too large', async () => {
    const { app, port } = await listen()
    const { closed } = await drip(port, earn.publishable, 70_000)
    const said = await closed
    expect(said).toMatch(/^HTTP\/1.1 413 /)
    expect(said).toMatch(/^connection: close$/im)
    await app.close()
  })

  it('does not keep a listener from closing', async () => {
    const { app, port } = await listen()
    const { closed } = await drip(port, earn.publishable)
    await app.close()
    await closed
  })

  it('is no failure of ours when it goes away', async () => {
    const { app, port, errors, failures, reading } = await listen()
    const { socket } = await drip(port, earn.publishable)
    await reading
    socket.destroy()
    await expect.poll(() => failures).toEqual(['aborted'])
    expect(errors).toEqual([])
    await app.close()
  })
})

it('the public listener refuses what is asked while its event loop is late, whoever asks', async () => {
  const ctx = { ...earn.ctx, log: silentLog, config: { ...earn.ctx.config, eventLoopDelayMaxMs: 50 } }
  const parts = { operations: [operation], authenticate: createAuthenticate(ctx), limits: openLimits(ctx) }
  const app = buildPublicApp({ ctx, ...parts })
  await app.listen({ host: '127.0.0.1', port: 0 })
  // By the loop's own time its next turn is long overdue.
  vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(2 ** 50)
  onTestFinished(() => void vi.restoreAllMocks())
  const answer = await app.inject({ method: 'POST', url: '/v2/post', headers: { 'X-API-Key': earn.publishable } })
  expect([answer.statusCode, answer.json().error]).toEqual([503, expect.stringContaining('overloaded')])
  await app.close()
})
