import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { namesOf, openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newId } from '../../../kernel/ids.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const replay = (webhookId: string, after: string, key = world.key) =>
  world.earn.call('ReplayWebhook', { params: { webhookId }, body: { after }, key })
const wallet = (digit: number) => ({ kind: 'wallet', id: `0x${String(digit).padStart(40, '0')}` }) as const

describe('ReplayWebhook 200', () => {
  it('sends the events after a cursor again with the same ids, each subject in order, and new ones meanwhile', async () => {
    const { id } = await world.create()
    world.start()
    const names = Array.from({ length: 12 }, (_, index) => `e${index}`)
    await world.tell(...names.map((name, index) => ({ id: name, subject: wallet(index % 3) })))
    await expect.poll(() => world.receiver.received.length).toBe(12)
    await expect.poll(async () => (await world.earn.db`select from webhook_queue`).length).toBe(0)
    const first = world.receiver.received.splice(0)
    const ids = new Map(first.map(({ body }) => [body.data.id, body.id]))
    const third = first.find(({ body }) => body.data.id === 'e2')
    expect((await replay(id, third?.body.cursor)).body.id).toBe(id)
    await world.tell({ id: 'new', subject: wallet(9) })
    await expect.poll(() => world.receiver.received.length).toBe(10)
    const again = namesOf(world.receiver.received)
    for (let digit = 0; digit < 3; digit++)
      expect(again.filter((name) => names.indexOf(name) % 3 === digit && names.includes(name))).toEqual(
        names.filter((_, index) => index % 3 === digit && index > 2),
      )
    expect(again).toContain('new')
    for (const { body, headers } of world.receiver.received)
      if (ids.has(body.data.id)) expect(headers['webhook-id']).toBe(ids.get(body.data.id))
  })

  it('does not double events that wait for their first delivery, and tries again what was given up', async () => {
    const { id } = await world.create({ url: `${world.receiver.url}/slow` })
    const { next } = (await world.earn.call('GetEvents', { query: { after: 'latest' }, key: world.earn.secret })).body
    let isBroken = true
    world.receiver.respond((_received, response) => response.writeHead(isBroken ? 500 : 204).end())
    const own = () => world.receiver.received.filter(({ path }) => path === '/slow')
    await world.tell({ id: 'x', subject: wallet(5) }, { id: 'y', subject: wallet(5) })
    await expect.poll(() => own().length).toBe(1)
    await world.earn.db`
      update webhook_queue set is_dead = true, is_head = false where webhook_id = ${id} and is_head and leased_until is null`
    await replay(id, next)
    expect(await world.earn.db`select from webhook_queue where webhook_id = ${id}`).toHaveLength(2)
    isBroken = false
    world.earn.clock.advance(10_000)
    await expect.poll(() => namesOf(own())).toEqual(['x', 'x', 'y'])
  })
})

describe('ReplayWebhook 400, 403 and 404', () => {
  it('refuses a text that is no cursor, a key without the permission, and a foreign webhook', async () => {
    const { id } = await world.create()
    expect((await replay(id, 'x')).status).toBe(400)
    expect((await replay(id, 'latest', world.earn.secret)).status).toBe(403)
    expect((await replay(newId(), 'latest')).status).toBe(404)
  })
})

describe('ReplayWebhook 410', () => {
  it('refuses a cursor whose event is not in the feed', async () => {
    const { id } = await world.create()
    const answer = await replay(id, '99999-abcdefabcdef')
    expect(answer.status).toBe(410)
    expect(answer.body.reason).toBe('CURSOR_GONE')
  })
})
