import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OrderWorld, openOrderWorld } from '../../../test/chain/orderWorld.js'
import { createOutbound } from '../../kernel/outbound.js'
import { openOrderBooks } from '../../server/swapApis.js'
import { runOrderBook } from './jobOrderBook.js'
import { sweepUnsigned } from './jobUnsigned.js'

const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'

let world: OrderWorld
beforeAll(async () => {
  world = await openOrderWorld()
})
afterAll(() => world.world.close())

const show = async (orderId: string) => (await world.status(orderId)).body

describe('200', () => {
  it('shows an order built, open, filled in parts and filled, to the unit and with every transaction', async () => {
    const { built, signature, orderId } = await world.open({ amountIn: '1000000', partiallyFillable: true })
    expect(await show(orderId)).toMatchObject({ status: 'open', filledIn: '0', filledOut: '0', txHashes: [] })
    const first = await world.settlement.settle(built, signature, { part: 400_000n })
    await world.world.sync()
    const part = await show(orderId)
    expect(part).toMatchObject({ status: 'partially-filled', filledIn: '400000', txHashes: [first.transactionHash] })
    const second = await world.settlement.settle(built, signature, { part: 600_000n })
    await world.world.sync()
    const whole = await show(orderId)
    expect(whole).toMatchObject({
      ...{ status: 'filled', filledIn: '1000000', orderUid: built.body.orderUid },
      ...{ txHashes: [first.transactionHash, second.transactionHash], cancellation: built.body.cancellation },
    })
    expect(BigInt(whole.filledOut)).toBe(await world.world.balance(world.tokenOut, world.user.address))
    expect(BigInt(whole.filledOut)).toBeGreaterThanOrEqual(BigInt(whole.minAmountOut))
    expect(await world.settlement.filledAmount(built.body.orderUid)).toBe(BigInt(whole.filledIn))
  })

  it('shows an order that its wallet ended by the ready transaction as cancelled, submitted or not', async () => {
    const built = await world.build({ amountIn: '1000' })
    const { orderId } = await world.open({ amountIn: '1000000' })
    const ids = [built.body.orderId, orderId]
    for (const id of ids) {
      const { to, data, value } = (await show(id)).cancellation
      const { client, done } = world.world.anvil
      await done(client.sendTransaction({ account: world.user, to, data, value: BigInt(value) }))
    }
    await world.world.sync()
    for (const id of ids) expect(await show(id)).toMatchObject({ status: 'cancelled', filledIn: '0' })
  })

  it('shows an order as expired once a confirmed block is past its last second, and never filled after', async () => {
    const { orderId, built, signature } = await world.open({ amountIn: '1000000', validForSeconds: 60 })
    const { client } = world.world.anvil
    const snapshot = await client.snapshot()
    await client.setNextBlockTimestamp({ timestamp: BigInt(Date.parse(built.body.expiresAt) / 1_000 + 1) })
    await client.mine({ blocks: 1 })
    await expect(world.settlement.settle(built, signature)).rejects.toThrow(/reverted/)
    await world.world.sync()
    expect(await show(orderId)).toMatchObject({ status: 'expired', filledIn: '0', txHashes: [] })
    await client.revert({ id: snapshot })
  })
})

describe('an order that nobody filled', () => {
  it('is not told expired while the events of its settlement contract are still being read', async () => {
    const { client } = world.world.anvil
    const { db } = world.world.earn
    const { orderId, built } = await world.open({ amountIn: '1000', validForSeconds: 60 })
    const snapshot = await client.snapshot()
    const { validTo } = built.body.typedData.message
    await client.setNextBlockTimestamp({ timestamp: BigInt(validTo) + 1n })
    await client.mine({ blocks: 3 })
    await world.world.sync()
    expect((await show(orderId)).status).toBe('expired')
    const source = world.settlement.address.toLowerCase()
    await db`update sources set synced = false where projection = 'orders' and source = ${source}`
    expect((await show(orderId)).status).toBe('open')
    await db`update sources set synced = true where projection = 'orders' and source = ${source}`
    expect((await show(orderId)).status).toBe('expired')
    await client.revert({ id: snapshot })
  })

  it('is forgotten a day after it expired where nobody signed it, and kept where somebody did, or the chain tells of it', async () => {
    const { db, clock, ctx } = world.world.earn
    const unsigned = (await world.build({ amountIn: '1000' })).body.orderId
    const ended = (await world.build({ amountIn: '1001' })).body
    const signed = (await world.open({ amountIn: '1002' })).orderId
    const { to, data } = ended.cancellation
    await world.world.anvil.done(world.world.anvil.client.sendTransaction({ account: world.user, to, data }))
    await world.world.sync()
    const ids = [unsigned, ended.orderId, signed]
    const kept = async () =>
      (await db<{ id: string }[]>`select id from swap_orders where id = any(${ids}::uuid[])`).map(({ id }) => id).sort()
    const now = clock.now()
    clock.set(new Date(now.getTime() + 86_400_000))
    await sweepUnsigned(ctx)
    expect(await kept()).toEqual(ids.toSorted())
    clock.set(new Date(now.getTime() + 86_400_000 + 2_000_000))
    await sweepUnsigned(ctx)
    expect(await kept()).toEqual([ended.orderId, signed].sort())
    expect((await world.status(unsigned)).status).toBe(404)
    clock.set(now)
  })
})

describe('400 INVALID_ARGUMENT and 404 NOT_FOUND', () => {
  it('wants a uuid, and finds no order of nobody or of another organization', async () => {
    const { orderId } = (await world.build()).body
    expect((await world.status('nothing')).status).toBe(400)
    expect((await world.status(unknown)).status).toBe(404)
    const { earn } = world.world
    const foreign = await earn.key({ kind: 'secret', organizationId: await earn.organization() })
    expect((await world.status(orderId, { key: foreign })).status).toBe(404)
    const bound = await earn.key({ kind: 'publishable', distributorId: await earn.distributor('other') })
    expect((await world.status(orderId, { key: bound })).status).toBe(200)
  })
})

describe('an order of the public order book', () => {
  type Asked = { method: string; path: string; body: string }
  let say: (asked: Asked) => { status: number; body?: unknown } | 'hang' = () => ({ status: 500 })
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '' } = request
    const body = (await request.toArray()).join('')
    asked.push({ method, path, body })
    const said = say(asked.at(-1) as Asked)
    if (said !== 'hang') response.writeHead(said.status).end(JSON.stringify(said.body ?? {}))
  })
  let url = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  /** Tells the order book what it does not have, as the job does, after the longest pause. */
  const tell = async (orderBook = url) => {
    const { earn } = world.world
    await world.settlement.configure({ venue: 'cow', orderBook })
    earn.clock.advance(61_000)
    const { ctx, clock } = earn
    asked.length = 0
    await runOrderBook(
      ctx,
      openOrderBooks({ outbound: createOutbound(clock), clock, bounds: { tryMs: 200, allMs: 400 } }),
    )
    return asked.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body).signature as string)
  }
  const open = async () => {
    await world.settlement.configure({ venue: 'cow', orderBook: url })
    return world.open({ amountIn: '1000000', validForSeconds: 7_200 })
  }

  it('changes by nothing that one says which is dead, slow or lies, and fills on the chain all the same', async () => {
    const { orderId, built, signature } = await open()
    const kept = await world.kept()
    const uid = built.body.orderUid
    const fulfilled = {
      uid,
      status: 'fulfilled',
      executedSellAmount: '1000000',
      executedBuyAmount: '1',
      invalidated: true,
    }
    const answers: [string, typeof say][] = [
      ['slow', () => 'hang'],
      ['down', () => ({ status: 503 })],
      ['of another mind', () => ({ status: 403, body: { errorType: 'Forbidden' } })],
      ['without the order', ({ method }) => ({ status: method === 'POST' ? 400 : 404 })],
      ['of another uid', () => ({ status: 201, body: `0x${'ab'.repeat(56)}` })],
      ['of a fill that never was', () => ({ status: 201, body: fulfilled })],
      ['of no JSON at all', () => ({ status: 201, body: null })],
    ]
    for (const [what, answer] of answers) {
      say = answer
      await tell()
      expect(await show(orderId), what).toMatchObject({ status: 'open', filledIn: '0', txHashes: [] })
      expect((await show(orderId)).error, what).toMatch(/\S/)
      expect(await world.kept(), what).toEqual(kept)
    }
    await tell('http://127.0.0.1:1')
    expect(await world.kept()).toEqual(kept)
    const { transactionHash } = await world.settlement.settle(built, signature)
    await world.world.sync()
    const filled = { status: 'filled', filledIn: '1000000', txHashes: [transactionHash], error: null }
    expect(await show(orderId)).toMatchObject(filled)
    // Nor by one that says of a filled order that it is cancelled.
    say = () => ({ status: 400, body: { uid, status: 'cancelled', invalidated: true } })
    await tell()
    expect(await show(orderId)).toMatchObject(filled)
  })

  it('that it accepted and forgot is open until it expires, and it is not told again', async () => {
    const { orderId, built, signature } = await open()
    const uid = built.body.orderUid
    say = ({ method }) => (method === 'POST' ? { status: 201, body: uid } : { status: 404 })
    expect(await tell()).toContain(signature)
    say = () => ({ status: 404 })
    expect(await tell()).not.toContain(signature)
    expect(await show(orderId)).toMatchObject({ status: 'open', error: null, filledIn: '0' })
    const { client } = world.world.anvil
    const last = BigInt(Date.parse(built.body.expiresAt) / 1_000)
    await client.setNextBlockTimestamp({ timestamp: last })
    await client.mine({ blocks: 1 })
    await world.world.sync()
    expect(await show(orderId)).toMatchObject({ status: 'open', error: null })
    await client.setNextBlockTimestamp({ timestamp: last + 1n })
    await client.mine({ blocks: 1 })
    await world.world.sync()
    expect(await tell()).not.toContain(signature)
    expect(await show(orderId)).toMatchObject({ status: 'expired', filledIn: '0', txHashes: [] })
  })
})
