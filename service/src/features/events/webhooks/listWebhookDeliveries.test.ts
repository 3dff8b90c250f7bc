import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const list = (webhookId: string, query = {}, key = world.key) =>
  world.earn.call('ListWebhookDeliveries', { params: { webhookId }, query, key })

describe('ListWebhookDeliveries 200', () => {
  it('lists tries newest first, page by page, with attempt, status, duration and error', async () => {
    const { id } = await world.create()
    let count = 0
    world.receiver.respond((_received, response) => response.writeHead(count++ === 0 ? 503 : 200).end())
    world.start()
    await world.tell('a')
    await expect.poll(async () => (await list(id)).body.data.length).toBe(1)
    world.earn.clock.advance(10_000)
    await expect.poll(async () => (await list(id)).body.data.length).toBe(2)
    const { body } = await list(id, { limit: 1 })
    expect(body.pagination).toEqual({ page: 1, limit: 1, total: 2, totalPages: 2 })
    expect(body.data[0]).toMatchObject({ attempt: 2, status: 200, error: '', at: '2026-11-20T12:00:10Z' })
    const [older] = (await list(id, { limit: 1, page: 2 })).body.data
    expect(older).toMatchObject({
      attempt: 1,
      status: 503,
      error: 'the receiver answered 503',
      eventId: body.data[0].eventId,
    })
    expect(older.durationMs).toBeGreaterThanOrEqual(0)
  })
})

describe('ListWebhookDeliveries 400, 403 and 404', () => {
  it('needs a uuid, the permission, and a webhook of the own organization', async () => {
    const { id } = await world.create()
    expect((await list('x')).status).toBe(400)
    expect((await list(id, {}, world.earn.secret)).status).toBe(403)
    expect((await list(newId())).status).toBe(404)
  })
})
