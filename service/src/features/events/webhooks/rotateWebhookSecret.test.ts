import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEarn } from '../../../../test/harness.js'
import { openWebhookWorld, verify, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'
import { newSecret } from './signature.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const rotate = (webhookId: string, body: object = {}, key = world.key) =>
  world.earn.call('RotateWebhookSecret', { params: { webhookId }, body, key })

describe('RotateWebhookSecret 200', () => {
  it('signs with both secrets until the overlap ends, and with the new one alone afterwards, also in a retry', async () => {
    const { id, secret: old } = await world.create()
    let isBroken = true
    world.receiver.respond((_received, response) => response.writeHead(isBroken ? 500 : 204).end())
    world.start()
    await world.tell('a')
    await expect.poll(() => world.receiver.received.length).toBe(1)
    const { secret } = (await rotate(id, { overlapSeconds: 60 })).body
    isBroken = false
    world.earn.clock.advance(10_000)
    await expect.poll(() => world.receiver.received.length).toBe(2)
    const [before, during] = world.receiver.received
    if (!before || !during) throw new Error('nothing was received')
    verify(before, old)
    expect(() => verify(before, secret)).toThrow()
    for (const each of [old, secret]) verify(during, each)
    world.earn.clock.advance(60_000)
    await world.tell('b')
    await expect.poll(() => world.receiver.received.length).toBe(3)
    const after = world.receiver.received[2]
    if (!after) throw new Error('nothing was received')
    verify(after, secret)
    expect(() => verify(after, old)).toThrow()
  })

  it('without an overlap ends the old secret at once, and takes a secret of the caller', async () => {
    const { id, secret: old } = await world.create({ url: `${world.receiver.url}/own` })
    const secret = newSecret()
    expect((await rotate(id, { overlapSeconds: 0, secret })).body.secret).toBe(secret)
    await world.tell('c')
    const own = () => world.receiver.received.find(({ path }) => path === '/own')
    await expect.poll(own).toBeDefined()
    const received = own()
    if (!received) throw new Error('nothing was received')
    verify(received, secret)
    expect(() => verify(received, old)).toThrow()
  })
})

describe('RotateWebhookSecret 400, 403 and 404', () => {
  it('refuses a wrong overlap or secret, a key without the permission, and a foreign webhook', async () => {
    const { id } = await world.create()
    for (const body of [{ overlapSeconds: 604_801 }, { overlapSeconds: -1 }, { secret: 'x' }])
      expect((await rotate(id, body)).status).toBe(400)
    expect((await rotate(id, {}, world.earn.secret)).status).toBe(403)
    expect((await rotate(newId())).status).toBe(404)
  })
})

describe('RotateWebhookSecret 503', () => {
  it('says that an operator has to act where no key for secrets is set', async () => {
    const earn = await openEarn()
    const key = await earn.key({ kind: 'secret', permissions: ['organization:webhooks'] })
    expect((await earn.call('RotateWebhookSecret', { params: { webhookId: newId() }, body: {}, key })).status).toBe(503)
    await earn.close()
  })
})
