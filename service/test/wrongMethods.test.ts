import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from './harness.js'

const id = '8e03978e-40d5-43e8-bc93-6894a57f9324'
const wallet = `0x${'11'.repeat(20)}`

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn?.close())

describe('a known path with a wrong method', () => {
  it.each([
    ['GET', '/v2/swap/orders/build'],
    ['GET', '/v2/actions/deposit'],
    ['GET', `/v2/actions/deposit/${id}`],
    ['GET', '/v2/actions/withdraw'],
    ['GET', '/v2/actions/claim-deposit/'],
    ['GET', `/v2/actions/cancel-deposit/${id}`],
    ['HEAD', '/v2/actions/deposit'],
    ['GET', '/v2/streams/bulk'],
    ['GET', '/v2/streams/points/wallets'],
    ['GET', `/v2/streams/bulk/wallets/${wallet}`],
    ['POST', '/v2/streams/bulk/withdrawals'],
    ['POST', '/v2/streams/wallets'],
    ['POST', '/v2/actions/verify'],
    ['DELETE', '/v2/chains/'],
    ['GET', '/v2/nothing'],
  ])('%s %s is a 404 that costs nothing, with the limits of the key it came with', async (method, url) => {
    const { status, headers, body } = await earn.request(method, url)
    expect(status).toBe(404)
    if (method !== 'HEAD') expect(body).toMatchObject({ code: 404, error: 'no such route' })
    expect(headers).toMatchObject({ 'x-request-cost': '0', 'x-ratelimit-limit': '10000', 'x-ratelimit-used': '0' })
    for (const key of [null, 'pk_live_bad']) {
      const other = await earn.request(method, url, { key })
      expect([other.status, other.headers['x-ratelimit-limit']]).toEqual([404, undefined])
    }
  })
})
