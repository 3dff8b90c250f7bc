import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'

const user = account(1)
const usd = 10n ** 6n
const ether = 10n ** 18n
const unknown = '01890a5d-ac96-774b-bcce-b302099a8057'

let opened: SwapWorld
let world: SwapWorld['world']
let token: Address

beforeAll(async () => {
  opened = await openSwapWorld({})
  world = opened.world
  token = opened.tokens[0]!
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
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe('reverted')
    expect((await report({ actionId, txHash: hash })).body.status).toBe('failed')
  })
})

describe('400 INVALID_ARGUMENT', () => {
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
