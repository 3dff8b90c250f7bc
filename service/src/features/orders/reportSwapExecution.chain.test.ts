import { prepareSuffix } from '@openearn/attribution'
import { type Address, concat, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { type OrderWorld, openOrderWorld } from '../../../test/chain/orderWorld.js'
import type { Answer } from '../../../test/harness.js'
import { waitForOutcome } from '../../cli/dev/receipt.js'

const user = account(1)
const usd = 10n ** 6n
const ether = 10n ** 18n
const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'

let opened: OrderWorld
let world: OrderWorld['world']
let token: Address

beforeAll(async () => {
  opened = await openOrderWorld()
  world = opened.world
  token = opened.tokenIn
  await opened.exchange.v2Pool(opened.weth, token, 100n * ether, 200_000n * usd)
})
afterAll(() => world.close())

const swap = () => opened.swap({ tokenIn: 'native', tokenOut: token, amountIn: String(ether) })

const report = (body: Record<string, string | number>, key?: string): Promise<Answer> =>
  world.earn.call('ReportSwapExecution', { body: { chainId: world.chainId, ...body }, ...(key ? { key } : {}) })

const nowhere: Hex = `0x${'12'.repeat(32)}`

describe('200', () => {
  it('is confirmed where the transaction carries the action, as GetAttribution shows it', async () => {
    const answer = await swap()
    const [receipt] = await world.send(answer, user)
    const { actionId } = answer.body
    const txHash = receipt!.transactionHash
    const found = await report({ actionId, txHash })
    expect(found.body).toEqual({ accepted: true, status: 'confirmed', actionId, orderId: null })
    const shown = await world.earn.call('GetAttribution', { params: { txHash }, query: { chainId: world.chainId } })
    expect(shown.body).toMatchObject({
      attributed: true,
      distributorId: 'acme',
      calldata: { signature: { valid: true } },
    })
  })

  it('is failed where it carries another action, or reverted, and pending while nobody knows it', async () => {
    const [first, second] = [await swap(), await swap()]
    const { actionId } = first.body
    const [other] = await world.send(second, user)
    expect((await report({ actionId, txHash: other!.transactionHash })).body.status).toBe('failed')
    expect((await report({ actionId, txHash: nowhere })).body.status).toBe('pending')
    const { transaction } = first.body.transactions[0]
    const { client } = world.anvil
    const { to, data } = transaction
    // Without the value the router has nothing to swap.
    const hash = await client.sendTransaction({ account: user, to, data, value: 0n, gas: 500_000n })
    expect((await waitForOutcome(client, hash)).status).toBe('reverted')
    expect((await report({ actionId, txHash: hash })).body.status).toBe('failed')
  })
})

describe('200 of an action that strangers name', () => {
  it('is failed where a stranger’s transaction names the action without our signature', async () => {
    const answer = await swap()
    const { actionId } = answer.body
    const [code, wallet, target] = ['acme', account(2).address, token]
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [account(3).address, 0n] })
    const { suffix } = prepareSuffix({ code, actionId, chainId: world.chainId, wallet, target, data })
    const { client, done } = world.anvil
    const sent = await done(
      client.sendTransaction({ account: account(2), to: target, data: concat([data, suffix(undefined)]) }),
    )
    const shown = await world.earn.call('GetAttribution', {
      params: { txHash: sent.transactionHash },
      query: { chainId: world.chainId },
    })
    expect(JSON.stringify(shown.body)).toContain(actionId.replaceAll('-', ''))
    expect((await report({ actionId, txHash: sent.transactionHash })).body.status).toBe('failed')
  })
})

describe('200 of an order', () => {
  it('is confirmed where the transaction fills the order, also a part of it, and moves nothing by itself', async () => {
    const { orderId, built, signature } = await opened.open({ amountIn: '1000', partiallyFillable: true })
    const { transactionHash } = await opened.settlement.settle(built, signature, { part: 400n })
    const before = await opened.kept()
    const found = await report({
      orderId: orderId.toUpperCase(),
      txHash: transactionHash.toUpperCase().replace('X', 'x'),
    })
    expect(found.body).toEqual({ accepted: true, status: 'confirmed', actionId: null, orderId })
    // The watcher has not seen it: the report is no news of the order.
    expect((await opened.status(orderId)).body.status).toBe('open')
    expect(await opened.kept()).toEqual(before)
    await world.sync()
    expect((await opened.status(orderId)).body).toMatchObject({ status: 'partially-filled', filledIn: '400' })
  })

  it('is failed where it fills another order, only cancels, or reverted, and pending while nobody knows it', async () => {
    const first = await opened.open({ amountIn: '1000', partiallyFillable: true })
    const second = await opened.open({ amountIn: '2000', partiallyFillable: true })
    const { client, done } = world.anvil
    const foreign = await opened.settlement.settle(second.built, second.signature)
    const { to, data } = first.built.body.cancellation
    const stranger = await client.sendTransaction({ account: account(2), to, data, gas: 100_000n })
    expect((await waitForOutcome(client, stranger)).status).toBe('reverted')
    const before = await opened.kept()
    const { orderId } = first
    for (const txHash of [foreign.transactionHash, stranger])
      expect((await report({ orderId, txHash })).body).toMatchObject({ accepted: true, status: 'failed', orderId })
    expect((await report({ orderId, txHash: nowhere })).body.status).toBe('pending')
    expect(await opened.kept()).toEqual(before)
    const cancelled = await done(client.sendTransaction({ account: user, to, data }))
    expect((await report({ orderId, txHash: cancelled.transactionHash })).body.status).toBe('failed')
    await world.sync()
    expect((await opened.status(orderId)).body.status).toBe('cancelled')
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('wants of an order its own chain', async () => {
    const { orderId } = (await opened.build()).body
    const before = await opened.kept()
    for (const chainId of [1, 8453]) expect((await report({ orderId, chainId, txHash: nowhere })).status).toBe(400)
    await world.earn.db`insert into chains (chain_id, name, slug, watched) values (7, 'Other', 'other', false)`
    await world.refresh()
    expect((await report({ orderId, chainId: 7, txHash: nowhere })).status).toBe(400)
    expect(await opened.kept()).toEqual(before)
  })

  it('wants exactly one id, and the chain of the action', async () => {
    const { actionId } = (await swap()).body
    expect((await report({ txHash: nowhere })).status).toBe(400)
    expect((await report({ actionId, orderId: unknown, txHash: nowhere })).status).toBe(400)
    expect((await report({ actionId, chainId: 1, txHash: nowhere })).status).toBe(400)
    expect((await report({ actionId, txHash: '0x12' })).status).toBe(400)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no action and no order of nobody, nor an action of another organization', async () => {
    expect((await report({ actionId: unknown, txHash: nowhere })).status).toBe(404)
    expect((await report({ orderId: unknown, txHash: nowhere })).status).toBe(404)
    const { actionId } = (await swap()).body
    const organizationId = await world.earn.organization()
    const key = await world.earn.key({ kind: 'publishable', organizationId })
    expect((await report({ actionId, txHash: nowhere }, key)).status).toBe(404)
    const { orderId } = (await opened.build()).body
    expect((await report({ orderId, txHash: nowhere }, key)).status).toBe(404)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where the chain cannot be asked', async () => {
    const { actionId } = (await swap()).body
    const down = await world.withNode(
      () => goneNode(),
      () => report({ actionId, txHash: nowhere }),
    )
    expect(down.status).toBe(503)
  })
})
