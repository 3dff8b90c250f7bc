import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openEarn } from '../../../../test/harness.js'
import { openWebhookWorld, type WebhookWorld } from '../../../../test/webhookWorld.js'
import { newSecret } from './signature.js'

let world: WebhookWorld
beforeAll(async () => {
  world = await openWebhookWorld()
})
afterAll(() => world?.close())

const create = (body: object, key: string | null = world.key, headers = {}) =>
  world.earn.call('CreateWebhook', { body, key, headers })
const url = () => `${world.receiver.url}/hook`

describe('CreateWebhook 200', () => {
  it('makes a webhook with every member, and shows its secret, which is kept sealed', async () => {
    const { body } = await create({ url: url(), types: ['interaction.confirmed', 'interaction.confirmed'], late: true })
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      url: url(),
      types: ['interaction.confirmed'],
      enabled: true,
      late: true,
      disabledReason: '',
      createdAt: '2026-11-20T12:00:00Z',
      lastDeliveryAt: null,
      failing: 0,
      secret: expect.stringMatching(/^whsec_/),
    })
    const [row] = await world.earn.db<{ secret: Buffer }[]>`select secret from webhooks where id = ${body.id}`
    expect(row?.secret.toString('latin1')).not.toContain(body.secret.slice(6))
  })

  it('takes a secret of the caller', async () => {
    const secret = newSecret()
    expect((await create({ url: url(), secret })).body.secret).toBe(secret)
  })

  it('shows the secret once: a repetition under its Idempotency-Key has none, and none is stored', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create({ url: url() }, world.key, headers)
    const again = await create({ url: url() }, world.key, headers)
    expect(again.body).toEqual({ ...first.body, secret: '' })
    const rows = await world.earn.db<{ text: string }[]>`select to_jsonb(t)::text as text from idempotency_keys t`
    expect(rows.some(({ text }) => text.includes(first.body.id))).toBe(true)
    expect(rows.some(({ text }) => text.includes(first.body.secret))).toBe(false)
  })
})

describe('CreateWebhook 400', () => {
  it.each([
    ['body.url', { url: 'http://example.com/' }],
    ['body.url', { url: 'https://10.0.0.1/' }],
    ['body.url', { url: 'nonsense' }],
    ['body.types', { url: 'https://example.com/', types: ['order.lost'] }],
    ['body.secret', { url: 'https://example.com/', secret: 'whsec_short' }],
  ])('refuses a wrong %s', async (path, body) => {
    const answer = await create(body)
    expect(answer.status).toBe(400)
    expect(answer.body.context.violations[0].path).toBe(path)
  })
})

describe('CreateWebhook 401 and 403', () => {
  it('needs a secret key with the permission', async () => {
    expect((await create({ url: url() }, null)).status).toBe(401)
    expect((await create({ url: url() }, world.earn.secret)).status).toBe(403)
    const publishable = await world.earn.key({ kind: 'publishable', permissions: ['organization:webhooks'] })
    expect((await create({ url: url() }, publishable)).status).toBe(403)
  })
})

describe('CreateWebhook 409', () => {
  it('refuses the 21st of an organization, also of requests at the same time', async () => {
    const organizationId = await world.earn.organization()
    const key = await world.earn.key({ kind: 'secret', organizationId, permissions: ['organization:webhooks'] })
    const answers = await Promise.all(Array.from({ length: 24 }, () => create({ url: url() }, key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(4)
    expect(refused[0]?.body.error).toMatch(/at most 20/)
  })
})

describe('CreateWebhook 503', () => {
  it('says that an operator has to act where no key for secrets is set', async () => {
    const earn = await openEarn()
    const key = await earn.key({ kind: 'secret', permissions: ['organization:webhooks'] })
    const answer = await earn.call('CreateWebhook', { body: { url: 'https://example.com/' }, key })
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({ error: expect.stringMatching(/SECRETS_KEY/), context: { retryable: false } })
    await earn.close()
  })
})
