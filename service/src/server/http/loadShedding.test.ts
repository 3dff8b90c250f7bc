import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { sendError } from './errors.js'
import { createBlame, createLateness, shedLoad } from './loadShedding.js'
import { createTurns } from './turns.js'

describe('an event loop that is late', () => {
  it('is as late as its last turn was, or as the next one is already', () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const lateness = createLateness(clock)
    expect(lateness.read()).toBe(0)
    lateness.tick()
    clock.advance(50)
    expect(lateness.read()).toBe(0)
    clock.advance(700)
    expect(lateness.read()).toBe(700)
    lateness.tick()
    expect(lateness.read()).toBe(700)
    clock.advance(50)
    lateness.tick()
    expect(lateness.read()).toBe(0)
  })

  it('refuses requests with 503 and Retry-After, says so once, and serves again when it is on time', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const said: unknown[] = []
    const log = { ...silentLog, warn: (...words: unknown[]) => said.push(words[1]) } as never
    const app = Fastify()
    const ctx = { clock, log, config: { eventLoopDelayMaxMs: 1_000 } }
    let shed = 0
    const onShed = () => {
      shed += 1
    }
    shedLoad(app, ctx, createTurns(0), onShed, clock)
    app.setErrorHandler((error, request, reply) => sendError(ctx as never, error, request, reply))
    app.get('/', async () => 'served')
    await app.listen({ host: '127.0.0.1', port: 0 })
    const ask = () => app.inject('/')
    expect((await ask()).statusCode).toBe(200)
    clock.advance(2_000)
    for (let round = 0; round < 3; round++) {
      const answer = await ask()
      expect([answer.statusCode, answer.headers['retry-after'], Number(answer.headers['x-request-cost'])]).toEqual([
        503,
        '1',
        0,
      ])
      expect(answer.json()).toMatchObject({ code: 503, status: 'UNAVAILABLE', context: {} })
    }
    expect([said.length, shed]).toEqual([1, 3])
    // Two turns of the loop on time.
    await expect.poll(async () => (await ask()).statusCode).toBe(200)
    await app.close()
  })

  it('refuses the key first whose heavy requests made it late, and everybody once it is twice as late', async () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const app = Fastify()
    const ctx = { clock, log: silentLog, config: { eventLoopDelayMaxMs: 1_000 } }
    const turns = createTurns(2)
    shedLoad(app, ctx, turns, () => undefined, clock)
    app.setErrorHandler((error, request, reply) => sendError(ctx as never, error, request, reply))
    app.get('/', async () => 'served')
    await app.listen({ host: '127.0.0.1', port: 0 })
    const ask = async (headers: Record<string, string>) => (await app.inject({ url: '/', headers })).statusCode
    const both = async () => [await ask({ 'x-api-key': 'heavy' }), await ask({ authorization: 'Bearer light' })]
    const end = await turns.take({ key: 'k', caller: '127.0.0.1 heavy' })
    expect(await both()).toEqual([200, 200])
    clock.advance(1_500)
    expect(await both()).toEqual([503, 200])
    end()
    clock.advance(1_000)
    expect(await both()).toEqual([503, 503])
    await app.close()
  })
})

describe('who stands for lateness', () => {
  it('is the caller with most of the last second, each turn divided among those with heavy requests', () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const blame = createBlame(clock)
    expect(blame.most()).toBeUndefined()
    blame.add(300, ['a', 'b'])
    blame.add(0, ['c'])
    blame.add(900, [])
    blame.add(200, ['b'])
    expect(blame.most()).toBe('b')
    clock.advance(600)
    blame.add(360, ['a'])
    expect(blame.most()).toBe('a')
    clock.advance(500)
    expect(blame.most()).toBe('a')
    clock.advance(500)
    expect(blame.most()).toBeUndefined()
  })
})
