import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { namesOf, openWebhookWorld, verify, type WebhookWorld } from '../../../../test/webhookWorld.js'

let world: WebhookWorld
beforeEach(async () => {
  world = await openWebhookWorld()
})
afterEach(async () => {
  await world?.close()
})

const wallet = (digit: number) => ({ kind: 'wallet', id: `0x${String(digit).padStart(40, '0')}` }) as const
const received = () => namesOf(world.receiver.received)
const arrive = (names: readonly string[]) => expect.poll(received).toEqual(names)
const rowOf = async (id: string) => {
  const { body } = await world.earn.call('ListWebhooks', { key: world.key })
  return body.data.find((each: { id: string }) => each.id === id)
}

describe('a webhook', () => {
  it('gets each event once and in order, signed for it, with the id of the event', async () => {
    const { id, secret } = await world.create()
    world.start()
    const names = Array.from({ length: 30 }, (_, index) => `e${index}`)
    await world.tell(...names)
    await arrive(names)
    const events = (await world.earn.call('GetEvents', { query: { limit: 500 }, key: world.earn.secret })).body.data
    expect(world.receiver.received.map(({ body }) => body)).toEqual(events)
    for (const one of world.receiver.received) {
      expect(verify(one, secret)).toEqual(one.body)
      expect(one.headers).toMatchObject({ 'webhook-id': one.body.id, 'content-type': 'application/json' })
    }
    await expect.poll(async () => (await rowOf(id)).lastDeliveryAt).not.toBeNull()
    expect(await rowOf(id)).toMatchObject({ failing: 0, enabled: true })
  })

  it('gets no event from before it was made, of other types, of other organizations, or late ones unless it asks', async () => {
    await world.tell('before')
    const other = await world.earn.organization()
    const foreign = await world.earn.key({
      ...{ kind: 'secret', organizationId: other, permissions: ['organization:webhooks'] },
    })
    await world.create({ url: `${world.receiver.url}/all`, late: true })
    await world.create({ url: `${world.receiver.url}/some`, types: ['interaction.retracted'] })
    await world.create({ url: `${world.receiver.url}/foreign` }, foreign)
    await world.tell(
      'a',
      { id: 'r', type: 'interaction.retracted', subject: wallet(2) },
      { id: 'late', late: true, subject: wallet(3) },
      { id: 'own', organizationId: world.earn.organizationId, subject: wallet(4) },
    )
    world.start()
    await expect.poll(() => world.receiver.received.length).toBe(4 + 1 + 2)
    const at = (path: string) => namesOf(world.receiver.received.filter((one) => one.path === path)).sort()
    expect(at('/all')).toEqual(['a', 'late', 'own', 'r'])
    expect(at('/some')).toEqual(['r'])
    expect(at('/foreign')).toEqual(['a', 'r'])
  })
})

describe('a delivery that fails', () => {
  it('holds back later events of its subject only, and goes on in order, with the same id, once it is taken', async () => {
    const { id } = await world.create()
    let isBroken = true
    world.receiver.respond(({ body }, response) =>
      response.writeHead(isBroken && body.subject.id === wallet(1).id ? 500 : 204).end(),
    )
    const of = (name: string, digit: number) => ({ id: name, subject: wallet(digit) })
    await world.tell(of('a1', 1), of('b1', 2), of('a2', 1), of('b2', 2), of('a3', 1))
    world.start()
    await expect.poll(received).toHaveLength(3)
    expect(received().sort()).toEqual(['a1', 'b1', 'b2'])
    const errors = async () => {
      const answer = await world.earn.call('ListWebhookDeliveries', { params: { webhookId: id }, key: world.key })
      return answer.body.data.filter(({ error }: { error: string }) => error !== '').length
    }
    await expect.poll(errors).toBe(1)
    isBroken = false
    world.earn.clock.advance(6_000)
    await expect.poll(received).toHaveLength(6)
    expect(received().slice(3)).toEqual(['a1', 'a2', 'a3'])
    const ids = world.receiver.received
      .filter(({ body }) => body.data.id === 'a1')
      .map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
    const tries = async () =>
      (await world.earn.call('ListWebhookDeliveries', { params: { webhookId: id }, key: world.key })).body.data
    // A try is recorded after its answer.
    await expect.poll(tries).toHaveLength(6)
    expect((await tries()).filter(({ status }: { status: number }) => status === 500)).toEqual([
      expect.objectContaining({ attempt: 1, error: 'the receiver answered 500' }),
    ])
  })

  it.each([
    [
      'a redirect',
      (_r: unknown, response: import('node:http').ServerResponse) => response.writeHead(302, { location: '/x' }).end(),
    ],
    ['a connection that breaks', (_r: unknown, response: import('node:http').ServerResponse) => response.destroy()],
    [
      'an answer of 10 MB',
      (_r: unknown, response: import('node:http').ServerResponse) => response.end(Buffer.alloc(10_000_000)),
    ],
  ])('is one with %s: nothing of the answer is kept', async (_what, respond) => {
    const { id } = await world.create()
    world.receiver.respond(respond)
    await world.tell('a')
    world.start()
    await expect.poll(async () => (await rowOf(id)).failing).toBe(1)
    const { body } = await world.earn.call('ListWebhookDeliveries', { params: { webhookId: id }, key: world.key })
    expect(body.data[0].error).toMatch(/redirected|could not be reached|larger than 64 KiB/)
    expect(world.receiver.received.every(({ path }) => path === '/hook')).toBe(true)
  })

  it('of 410 disables the webhook at once, and its organization is told', async () => {
    const { id } = await world.create({ types: ['interaction.confirmed'] })
    world.receiver.respond((_received, response) => response.writeHead(410).end())
    await world.tell('a', { id: 'b', subject: wallet(2) })
    world.start()
    await expect.poll(async () => (await rowOf(id)).enabled).toBe(false)
    expect((await rowOf(id)).disabledReason).toMatch(/410/)
    const told = async () => {
      const query = { types: 'webhook.disabled' }
      return (await world.earn.call('GetEvents', { query, key: world.earn.secret })).body.data
    }
    await expect.poll(told).toHaveLength(1)
    expect((await told())[0]).toMatchObject({ subject: { kind: 'webhook', id }, data: { id, enabled: false } })
  })

  it('for three days disables the webhook; enabled again it goes on where it stopped, in order', async () => {
    const { id } = await world.create({ types: ['interaction.confirmed'] })
    world.receiver.respond((_received, response) => response.writeHead(500).end())
    await world.tell('a', 'b')
    world.start()
    for (let day = 0; day < 4; day++) {
      await expect.poll(async () => (await rowOf(id)).failing).toBe(day + 1)
      if (day < 3) expect((await rowOf(id)).enabled, `after ${day} days`).toBe(true)
      world.earn.clock.advance(86_400_000 + 60_000)
    }
    await expect.poll(async () => (await rowOf(id)).enabled).toBe(false)
    world.receiver.respond((_received, response) => response.writeHead(200).end())
    world.receiver.received.length = 0
    await world.tell('c')
    await world.earn.call('UpdateWebhook', { params: { webhookId: id }, body: { enabled: true }, key: world.key })
    await arrive(['a', 'b', 'c'])
    expect(await rowOf(id)).toMatchObject({ enabled: true, disabledReason: '', failing: 0 })
  })
})

describe('limits', () => {
  it('at most 50 events of a webhook are on their way, from two processes together', async () => {
    let most = 0
    const open = new Set<import('node:http').ServerResponse>()
    world.receiver.respond((_received, response) => {
      open.add(response)
      most = Math.max(most, open.size)
      if (open.size === 50) for (const each of open) each.writeHead(204).end()
      if (open.size === 50) open.clear()
    })
    await world.create()
    await world.tell(...Array.from({ length: 100 }, (_, index) => ({ id: `e${index}`, subject: wallet(index) })))
    world.start()
    world.start()
    await expect.poll(() => world.receiver.received.length).toBe(100)
    expect(most).toBe(50)
  })

  it('does not hold up other webhooks of the same host', async () => {
    await Promise.all([1, 2].map((each) => world.create({ url: `${world.receiver.url}/hangs/${each}` })))
    await world.create({ url: `${world.receiver.url}/works` })
    world.receiver.respond(({ path }, response) => {
      if (path === '/works') response.writeHead(204).end()
    })
    world.start()
    const names = Array.from({ length: 60 }, (_, index) => `e${index}`)
    await world.tell(...names.map((id, index) => ({ id, subject: wallet(index) })))
    const works = () => world.receiver.received.filter(({ path }) => path === '/works').length
    await expect.poll(works).toBe(60)
  })

  it('at most 100 tries of a webhook are made in a second', async () => {
    await world.create()
    await world.tell(...Array.from({ length: 130 }, (_, index) => ({ id: `e${index}`, subject: wallet(index) })))
    world.start()
    await expect.poll(() => world.receiver.received.length).toBe(100)
    // The clock stands still: a later look is in the same second.
    await world.tell({ id: 'more', subject: wallet(1_000) })
    await expect.poll(async () => (await world.earn.db`select from webhook_queue`).length).toBe(31)
    expect(world.receiver.received).toHaveLength(100)
    world.earn.clock.advance(1_000)
    await expect.poll(() => world.receiver.received.length).toBe(131)
  })
})

describe('a process that dies', () => {
  it('loses no event: another takes over what it had on its way, with the same id, in order', async () => {
    await world.create()
    world.receiver.respond(() => undefined)
    await world.tell('a', 'b')
    const first = world.start()
    await expect.poll(received).toEqual(['a'])
    await first.stop()
    world.receiver.respond((_received, response) => response.writeHead(204).end())
    world.start()
    world.earn.clock.advance(61_000)
    await arrive(['a', 'a', 'b'])
    const [one, two] = world.receiver.received
    expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id'])
  })
})
