import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const remove = (webhookId: string, key = world.key) => world.earn.call('DeleteWebhook', { params: { webhookId }, key })

describe('DeleteWebhook 200', () => {
  it('returns it as it was, with its queue and deliveries gone, also while an event is on its way', async () => {
    const { secret: _secret, ...made } = await world.create()
    world.receiver.respond(() => undefined)
    world.start()
    await world.tell('a', 'b')
    await expect.poll(() => world.receiver.received.length).toBe(1)
    expect((await remove(made.id)).body).toEqual(made)
    for (const table of ['webhooks', 'webhook_queue', 'webhook_attempts'])
      expect(await world.earn.db`select from ${world.earn.db(table)}`).toHaveLength(0)
    expect((await world.earn.call('ListWebhooks', { key: world.key })).body.data).toEqual([])
  })
})

describe('DeleteWebhook 400, 403 and 404', () => {
  it('needs a uuid, the permission, and a webhook of the own organization', async () => {
    const { id } = await world.create()
    expect((await remove('x')).status).toBe(400)
    expect((await remove(id, world.earn.secret)).status).toBe(403)
    const organizationId = await world.earn.organization()
    const key = await world.earn.key({ kind: 'secret', organizationId, permissions: ['organization:webhooks'] })
    expect((await remove(id, key)).status).toBe(404)
    expect((await remove(newId())).status).toBe(404)
    expect((await remove(id)).status).toBe(200)
    expect((await remove(id)).status).toBe(404)
  })
})
