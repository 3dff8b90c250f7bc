import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

describe('ListWebhooks 200', () => {
  it('lists those of the own organization, oldest first, without their secrets', async () => {
    const other = await world.earn.organization()
    const foreign = await world.earn.key({
      ...{ kind: 'secret', organizationId: other, permissions: ['organization:webhooks'] },
    })
    const { secret: _one, ...one } = await world.create()
    world.earn.clock.advance(1_000)
    const { secret: _two, ...two } = await world.create({ types: ['interaction.retracted'] })
    await world.create({}, foreign)
    const answer = await world.earn.call('ListWebhooks', { key: world.key })
    expect(answer.body).toEqual({ data: [one, two] })
    expect(answer.text).not.toContain('whsec_')
  })
})

describe('ListWebhooks 403', () => {
  it('needs the permission', async () => {
    expect((await world.earn.call('ListWebhooks', { key: world.earn.secret })).status).toBe(403)
  })
})
