import T from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { buildProbeApp } from '../../../test/probes.js'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'

let opened: Promise<void>
let open: () => void
let running = 0
let asked = 0
const common = { summary: '', description: '', tag: 'test', method: 'GET', access: 'publishable' } as const
const cost = () => {
  asked += 1
  return 1
}
const work = async () => {
  running += 1
  await opened
  running -= 1
  return {}
}
const probes: Operation<Context>[] = [
  defineOperation({
    ...common,
    cost,
    operationId: 'Long',
    path: '/v2/long',
    isHeavy: true,
    responses: { 200: T.Object({}) },
    run: work,
  }),
  defineOperation({
    ...common,
    cost,
    operationId: 'Short',
    path: '/v2/short',
    responses: { 200: T.Object({}) },
    run: work,
  }),
  defineOperation({
    ...common,
    cost: 1,
    operationId: 'Ping',
    path: '/v2/ping',
    responses: { 200: T.Object({}) },
    run: async () => ({}),
  }),
]

let earn: Earn
let app: ReturnType<typeof buildProbeApp>
beforeAll(async () => {
  earn = await openEarn()
  app = buildProbeApp({ ...earn.ctx, config: { ...earn.ctx.config, heavyPerKey: 2 } }, probes)
  opened = new Promise((resolve) => {
    open = resolve
  })
})
afterAll(async () => {
  await app.close()
  await earn.close()
})

describe('heavy requests of one key, and of one address with a publishable key', () => {
  it('run two at once and the others after them, while light ones, other keys and other addresses go on', async () => {
    const [one, other] = [await earn.key({ kind: 'secret' }), await earn.key({ kind: 'publishable' })]
    const ask = (path: string, key: string, remoteAddress = '127.0.0.1') =>
      app.inject({ url: `/v2/${path}`, headers: { 'x-api-key': key }, remoteAddress })
    const answers = [
      ...Array.from({ length: 6 }, () => ask('long', one)),
      ...Array.from({ length: 3 }, () => ask('long', other)),
      ...[ask('long', one, '127.0.0.2'), ask('long', other, '127.0.0.2'), ask('short', one)],
    ]
    // Two of the secret key, two and one of the addresses with the publishable one, and the light one.
    await expect.poll(() => [asked, running]).toEqual([12, 6])
    // Those that came before it have been charged, and would run.
    expect((await ask('ping', one)).statusCode).toBe(200)
    expect(running).toBe(6)
    open()
    expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200))
  })
})
