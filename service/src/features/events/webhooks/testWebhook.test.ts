import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEarn } from '../../../../test/harness.js'
import { openWebhookWorld, verify, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const test = (webhookId: string, key = world.key) => world.earn.call('TestWebhook', { params: { webhookId }, key })

describe('TestWebhook 200', () => {
  it('sends a signed event at once, also to a disabled webhook, and returns the delivery, which is listed', async () => {
    const { id, secret } = await world.create()
    await world.earn.call('UpdateWebhook', { params: { webhookId: id }, body: { enabled: false }, key: world.key })
    const { body } = await test(id)
    expect(body).toMatchObject({ attempt: 1, status: 204, error: '' })
    const [received] = world.receiver.received
    if (!received) throw new Error('nothing was received')
    expect(verify(received, secret)).toMatchObject({
      type: 'webhook.test',
      subject: { kind: 'webhook', id },
      data: { id },
    })
    expect(received.headers['webhook-id']).toBe(body.eventId)
    const listed = await world.earn.call('ListWebhookDeliveries', { params: { webhookId: id }, key: world.key })
    expect(listed.body.data).toEqual([body])
  })

  it('says in words why the receiver did not take it', async () => {
    const { id } = await world.create({ url: `http://${world.receiver.place}/refused` })
    world.receiver.respond((_received, response) => response.writeHead(403).end('private words of the receiver'))
    const answer = await test(id)
    expect(answer.body).toMatchObject({ status: 403, error: 'the receiver answered 403' })
    expect(answer.text).not.toContain('private words')
  })
})

describe('TestWebhook 400, 403 and 404', () => {
  it('needs a uuid, the permission, and a webhook of the own organization', async () => {
    const { id } = await world.create()
    expect((await test('x')).status).toBe(400)
    expect((await test(id, world.earn.secret)).status).toBe(403)
    expect((await test(newId())).status).toBe(404)
  })
})

describe('TestWebhook 503', () => {
  it('says that an operator has to act where no key for secrets is set', async () => {
    const earn = await openEarn()
    const key = await earn.key({ kind: 'secret', permissions: ['organization:webhooks'] })
    expect((await earn.call('TestWebhook', { params: { webhookId: newId() }, key })).status).toBe(503)
    await earn.close()
  })
})
