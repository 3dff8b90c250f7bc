import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn({ now: '2026-11-20T12:00:00Z' })
})
afterAll(() => earn.close())

const hintOf = (text: string) => `${text.slice(0, 12)}…${text.slice(-4)}`
const show = (key?: string | null) => earn.call('GetKey', key === undefined ? {} : { key })

describe('200', () => {
  it('shows a publishable key: of whom it is, where it may be used, and its share of an address', async () => {
    const distributorId = await earn.distributor()
    const origins = ['https://app.example']
    const key = await earn.key({ kind: 'publishable', distributorId, origins, hourlyUnits: 500, addressShare: 0.2 })
    expect((await show(key)).body).toEqual({
      ...{ hint: hintOf(key), kind: 'publishable', distributorId, permissions: [], origins },
      organization: { id: earn.organizationId, name: 'Default organization' },
      limits: { hourly: 500, monthly: null, address: 100 },
      used: { hourly: 0, monthly: 0 },
    })
  })

  it('shows a secret key of another organization its own, and nothing of the text or its hash', async () => {
    const organizationId = await earn.organization('Aurora')
    const permissions = ['organization:webhooks']
    const key = await earn.key({ kind: 'secret', organizationId, permissions, monthlyUnits: 90_000 })
    const { body, text } = await show(key)
    expect(body).toEqual({
      ...{ hint: hintOf(key), kind: 'secret', distributorId: null, permissions, origins: [] },
      organization: { id: organizationId, name: 'Aurora' },
      limits: { hourly: 10_000, monthly: 90_000, address: null },
      used: { hourly: 0, monthly: 0 },
    })
    expect(text).not.toContain(key.slice(12, -4))
  })

  it('costs nothing, tells what other calls used, and answers when all is used', async () => {
    const key = await earn.key({ kind: 'publishable', hourlyUnits: 3, monthlyUnits: 8 })
    for (let call = 0; call < 3; call++) expect((await earn.call('GetChains', { key })).status).toBe(200)
    expect((await earn.call('GetChains', { key })).status).toBe(429)
    for (let call = 0; call < 2; call++) {
      const { status, body, headers } = await show(key)
      expect([status, headers['x-request-cost'], headers['x-ratelimit-used']]).toEqual([200, '0', '3'])
      expect(body.used).toEqual({ hourly: 3, monthly: 3 })
    }
    earn.clock.set('2026-11-20T13:00:00Z')
    expect((await show(key)).body.used).toEqual({ hourly: 0, monthly: 3 })
    earn.clock.set('2026-12-01T00:00:00Z')
    expect((await show(key)).body.used).toEqual({ hourly: 0, monthly: 0 })
  })
})

describe('401 UNAUTHORIZED', () => {
  it('wants a key that is good', async () => {
    expect((await show(null)).status).toBe(401)
    expect((await show('sk_live_x')).status).toBe(401)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses an origin that is not of the key', async () => {
    const key = await earn.key({ kind: 'publishable', origins: ['https://app.example'] })
    const headers = { origin: 'https://other.example' }
    expect((await earn.call('GetKey', { key, headers })).status).toBe(403)
  })
})
