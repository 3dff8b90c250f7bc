import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import T from 'typebox'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { buildProbeApp } from '../../../test/probes.js'
import { defineOperation } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'

const source = {}
/** Called when the operation that never ends has begun. */
let begin: () => void = () => undefined
let runs = 0
const common = { summary: '', description: '', tag: 'test', method: 'GET', cost: 1 } as const
const run = async () => {
  runs += 1
  return {}
}
const responses = { 200: T.Object({}) }
const cacheable = () => source
const probes = [
  defineOperation<Context>({
    ...{ ...common, operationId: 'Open', path: '/v2/open', access: 'publishable', responses, cacheable, run },
  }),
  defineOperation<Context>({
    ...{ ...common, operationId: 'Secret', path: '/v2/secret', access: 'secret', responses, cacheable, run },
  }),
  defineOperation<Context>({
    ...{ ...common, operationId: 'Granted', path: '/v2/granted', access: 'secret', responses, cacheable, run },
    permission: 'organization:incentivize:streams',
  }),
  defineOperation<Context>({
    ...{ ...common, operationId: 'Waiting', path: '/v2/waiting', access: 'publishable', responses },
    tellsRetryable: true,
    run: () => {
      begin()
      return new Promise<never>(() => undefined)
    },
  }),
]

let earn: Earn
let app: ReturnType<typeof buildProbeApp>
let port: number
/** Requests that reached the server's own way. */
let own = 0
beforeAll(async () => {
  earn = await openEarn()
  app = buildProbeApp({ ...earn.ctx, config: { ...earn.ctx.config, patience: 1 } }, probes)
  app.addHook('onRequest', async () => {
    own += 1
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

const get = (path: string, key: string) =>
  new Promise<number>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers: { 'X-API-Key': key } }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject)
    sent.end()
  })

it('repeats no answer of an operation that asks for a secret key or a permission, and of others the second time', async () => {
  const secret = await earn.key({ kind: 'secret', permissions: ['organization:incentivize:streams'] })
  const plain = await earn.key({ kind: 'secret' })
  for (const path of ['/v2/secret', '/v2/granted']) {
    const before = own
    expect([await get(path, secret), await get(path, secret)]).toEqual([200, 200])
    expect(await get(path, earn.publishable)).toBe(403)
    expect(own - before).toBe(3)
  }
  expect(await get('/v2/granted', plain)).toBe(403)
  const [before, ran] = [own, runs]
  expect([await get('/v2/open', earn.publishable), await get('/v2/open', earn.publishable)]).toEqual([200, 200])
  expect([own - before, runs - ran]).toEqual([1, 1])
})

it('answers 503 after 9 s to a plan whose node goes on answering just in time', async () => {
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    let isAnswered = false
    const headers = { 'x-api-key': earn.publishable }
    const answer = app.inject({ method: 'GET', url: '/v2/waiting', headers }).then((given) => {
      isAnswered = true
      return given
    })
    await begun
    await vi.advanceTimersByTimeAsync(8_999)
    expect(isAnswered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const given = await answer
    expect([given.statusCode, given.headers['retry-after']]).toEqual([503, '5'])
    expect(given.json()).toMatchObject({ status: 'UNAVAILABLE', context: { retryable: true } })
  } finally {
    vi.useRealTimers()
  }
})
