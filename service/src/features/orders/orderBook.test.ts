import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pad } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../contracts/test/patience.js'
import { fakeClock } from '../../kernel/clock.js'
import { createOutbound } from '../../kernel/outbound.js'
import { openOrderBooks } from '../../server/swapApis.js'
import { postOrder, toOrderCreation } from './orderBook.js'
import type { SubmittedOrder } from './orderState.js'

const uid = `0x${'5a'.repeat(56)}`
const order: SubmittedOrder = {
  ...{ id: '01890a5d-ac96-774b-bcce-b302099a8057', organizationId: '', distributorId: 'acme', opportunityId: null },
  ...{ chainId: 1, settlement: pad('0x5', { size: 20 }), relayer: pad('0x6', { size: 20 }), uid },
  ...{ owner: pad('0x7', { size: 20 }), tokenIn: pad('0x8', { size: 20 }), tokenOut: pad('0x9', { size: 20 }) },
  ...{ amountIn: 10n ** 24n, minAmountOut: 3n, partiallyFillable: true, appData: '{"appCode":"acme"}' },
  ...{ appDataHash: pad('0xa'), expiresAt: new Date(1_795_000_000_000), createdAt: new Date(0) },
  ...{ failedAt: null, failure: null },
  submission: { signature: '0x1234', scheme: 'eip1271', venue: 'cow', submittedAt: new Date(0) },
}

type Asked = { method: string; path: string; type: string | undefined; body: string }
type Said = { status: number; body?: unknown } | 'hang'
const asked: Asked[] = []
let say: (asked: Asked) => Said = () => ({ status: 500 })
const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const body = (await request.toArray()).join('')
  const type = request.headers['content-type']
  asked.push({ method: request.method ?? '', path: request.url ?? '', type, body })
  const said = say(asked.at(-1) as Asked)
  if (said === 'hang') return
  response.writeHead(said.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(said.body ?? {}))
})
let url = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mainnet`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
afterEach(() => {
  asked.length = 0
})

const post = (at = url, bounds = { tryMs: patient(300), allMs: patient(600) }) => {
  const clock = fakeClock('2026-11-20T12:00:00Z')
  return postOrder(openOrderBooks({ outbound: createOutbound(clock), clock, bounds })(at), order)
}

describe('the public order book', () => {
  it('is told of an order in its own shape, the app data in full, and has it where it answers the uid', async () => {
    say = () => ({ status: 201, body: uid })
    expect(await post()).toEqual({ accepted: true })
    expect(asked).toEqual([
      { method: 'POST', path: '/mainnet/api/v1/orders', type: 'application/json', body: expect.any(String) },
    ])
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      ...{ sellToken: order.tokenIn, buyToken: order.tokenOut, receiver: order.owner, from: order.owner },
      ...{ sellAmount: '1000000000000000000000000', buyAmount: '3', validTo: 1_795_000_000, feeAmount: '0' },
      ...{ kind: 'sell', partiallyFillable: true, sellTokenBalance: 'erc20', buyTokenBalance: 'erc20' },
      ...{ appData: order.appData, appDataHash: order.appDataHash, signingScheme: 'eip1271', signature: '0x1234' },
    })
    expect(toOrderCreation({ ...order, submission: { ...order.submission, scheme: 'eip712' } })).toMatchObject({
      signingScheme: 'eip712',
    })
  })

  it('has an order that it refuses as a duplicate where its own copy shows it', async () => {
    const duplicate = { status: 400, body: { errorType: 'DuplicatedOrder', description: 'order already exists' } }
    say = ({ method }) => (method === 'POST' ? duplicate : { status: 200, body: { uid, status: 'open' } })
    expect(await post()).toEqual({ accepted: true })
    expect(asked.at(-1)?.path).toBe(`/mainnet/api/v1/orders/${uid}`)
  })

  it('does not have one that it refuses and does not show, or shows another for', async () => {
    for (const copy of [{ status: 404 }, { status: 200, body: { uid: '0x12' } }, { status: 500 }, { status: 200 }]) {
      say = ({ method }) => (method === 'POST' ? { status: 403, body: { errorType: 'Forbidden' } } : copy)
      const note = expect.stringMatching(/^127\.0\.0\.1:\d+ refused the order \(403\); it is told again$/)
      expect(await post()).toEqual({ accepted: false, note })
    }
  })

  it('does not have it where it lies, hangs, fails or is gone', async () => {
    for (const body of [`0x${'5b'.repeat(56)}`, { uid }, null, 7]) {
      say = () => ({ status: 201, body })
      expect(await post()).toMatchObject({
        accepted: false,
        note: expect.stringMatching(/something other than the uid/),
      })
    }
    say = () => 'hang'
    expect(await post()).toMatchObject({ accepted: false, note: expect.stringMatching(/cannot be asked at present/) })
    say = () => ({ status: 503 })
    expect(await post()).toMatchObject({ note: expect.stringMatching(/cannot be asked at present \(503\)/) })
    expect(await post('http://127.0.0.1:1')).toMatchObject({
      note: '127.0.0.1:1 cannot be asked at present; it is told again',
    })
  })
})
