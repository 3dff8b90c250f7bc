import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namesOf, openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const update = (webhookId: string, body: object, key = world.key) =>
  world.earn.call('UpdateWebhook', { params: { webhookId }, body, key })

describe('UpdateWebhook 200', () => {
  it('changes the given members alone, and events go to the new place', async () => {
    const { secret: _secret, ...made } = await world.create({ late: true })
    const url = `${world.receiver.url}/moved`
    expect((await update(made.id, { url })).body).toEqual({ ...made, url })
    expect((await update(made.id, { types: ['interaction.confirmed'], late: false })).body).toEqual({
      ...{ ...made, url },
      ...{ types: ['interaction.confirmed'], late: false },
    })
    expect((await update(made.id, {})).body.url).toBe(url)
    const running = world.start()
    await world.tell('a')
    await expect.poll(() => namesOf(world.receiver.received)).toEqual(['a'])
    expect(world.receiver.received[0]?.path).toBe('/moved')
    await running.stop()
  })

  it('switched off it gets nothing, switched on again the events that it missed', async () => {
    const { id } = await world.create({ url: `${world.receiver.url}/off` })
    expect((await update(id, { enabled: false })).body.enabled).toBe(false)
    world.start()
    await world.tell('missed')
    const own = () => namesOf(world.receiver.received.filter(({ path }) => path === '/off'))
    // By then another webhook got it; an event of before may come to that one once more, before or afterwards.
    await expect.poll(() => namesOf(world.receiver.received)).toContain('missed')
    expect(own()).toEqual([])
    await update(id, { enabled: true })
    await world.tell('next')
    await expect.poll(own).toEqual(['missed', 'next'])
  })
})

describe('UpdateWebhook 400', () => {
  it.each([
    ['body.url', { url: 'https://127.0.0.1/' }],
    ['body.types', { types: ['x'] }],
    ['body.enabled', { enabled: 'yes' }],
  ])('refuses a wrong %s', async (path, body) => {
    const { id } = await world.create()
    const answer = await update(id, body)
    expect(answer.status).toBe(400)
    expect(answer.body.context.violations[0].path).toBe(path)
  })
})

describe('UpdateWebhook 403 and 404', () => {
  it('needs the permission, and a webhook of the own organization', async () => {
    const { id } = await world.create()
    expect((await update(id, {}, world.earn.secret)).status).toBe(403)
    const organizationId = await world.earn.organization()
    const key = await world.earn.key({ kind: 'secret', organizationId, permissions: ['organization:webhooks'] })
    expect((await update(id, { enabled: false }, key)).status).toBe(404)
    expect((await update(newId(), {})).status).toBe(404)
  })
})
