import { verifyStream } from '@openearn/sdk/verify'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld, streamsKey } from '../../../test/streamWorld.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

const increase = (id: string, body: Record<string, unknown> = { amount: '1001' }, key = world.secret) =>
  world.earn.call('IncreaseStreamBudget', { params: { id }, body, key })

describe('200', () => {
  it('signs the increase and the fee on it; the wallets of the chain decide who pays', async () => {
    const { body } = await increase(await world.stream())
    expect(body).toMatchObject({ type: 'budget-increase', amount: '1001', feeAmount: '16', to: null, executed: false })
    expect(body.txParams).toMatchObject({
      function: 'addFunds',
      params: {
        params: { NetAmount: '1001', FeeAmount: '16' },
        deadline: String(Date.parse('2026-11-20T12:05:00Z') / 1_000),
      },
    })
    const { to, data, chainId } = body.txParams
    const asked = {
      type: 'addFunds',
      userAddress: world.admin,
      rewardToken: world.token.reward,
      amount: '1001',
    } as const
    const transaction = { to, data, value: '0', chainId }
    const context = { chainId, factory: world.factory, stream: body.txParams.params.params.Stream }
    const known = { ...context, verifiers: [privateKeyToAddress(streamsKey)], allowance: 1_017n }
    expect(await verifyStream(asked, [{ type: asked.type, transaction }], known)).toMatchObject({ problems: [] })
    // 4 confirmations of 12 s each.
    expect(body.blockingUntil).toBe('2026-11-20T12:05:48Z')
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a stream that has ended, with its reason', async () => {
    const answer = await increase(await world.stream({ endsAt: '2026-11-20T12:00:00Z' }))
    expect([answer.status, answer.body.reason]).toEqual([400, 'STREAM_ENDED'])
  })

  it('refuses a daily budget, points, and a creation that is not confirmed', async () => {
    expect((await increase(await world.stream({ type: 3, endsAt: '2026-12-01T00:00:00Z' }))).status).toBe(400)
    expect((await increase(await world.stream({ pointId: await world.point() }))).status).toBe(400)
    expect((await increase(await world.stream({ createdBlock: world.confirmed + 1 }))).status).toBe(400)
  })

  it.each([
    { amount: '0' },
    { amount: String(2n ** 256n - 1n) },
    { amount: '-1' },
    { amount: 5 },
    {},
    { amount: '1', signatureExpirationSeconds: 0 },
    { amount: '1', signatureExpirationSeconds: 86_401 },
  ])('refuses %o', async (body) => {
    expect((await increase(await world.stream(), body)).status).toBe(400)
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a key without the permission and one of another organization', async () => {
    const id = await world.stream()
    expect((await increase(id, undefined, world.earn.secret)).status).toBe(403)
    expect((await increase(id, undefined, world.earn.publishable)).status).toBe(403)
    expect((await increase(id, undefined, world.stranger)).status).toBe(403)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no such stream', async () => {
    expect((await increase('01890a5d-ac96-774b-bcce-b302099a8057')).status).toBe(404)
  })
})

describe('409 CONFLICT', () => {
  it('refuses a second one, until a confirmed block is past the deadline of the first', async () => {
    const id = await world.stream()
    const first = await increase(id)
    const second = await increase(id)
    expect([second.status, second.body.reason]).toEqual([409, 'ADMIN_OPERATION_ACTIVE'])
    expect(second.body.context.blockingUntil).toBe(first.body.blockingUntil)
    // The confirmed block is of the very second of the deadline.
    await world.advance(world.head + 28)
    expect((await increase(id)).status).toBe(409)
    await world.advance(world.head + 29)
    const third = await increase(id)
    expect([third.status, third.body.id === first.body.id]).toEqual([200, false])
    expect(third.body.txParams.params.salt).not.toBe(first.body.txParams.params.salt)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where this installation has no key for it', async () => {
    const bare = await openStreamWorld({
      config: { streamsKey: { name: 'STREAMS', key: undefined, keyFile: undefined, remote: undefined } },
    })
    const body = { amount: '1' }
    const answer = await bare.earn.call('IncreaseStreamBudget', {
      params: { id: await bare.stream() },
      body,
      key: bare.secret,
    })
    expect(answer.status).toBe(503)
    await bare.close()
  })
})
