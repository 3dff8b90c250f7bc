import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../kernel/clock.js'
import { silentLog } from '../../kernel/log.js'
import { sendError } from './errors.js'
import { createLateness, shedLoad } from './loadShedding.js'

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
    shedLoad(app, ctx, onShed, clock)
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
})
