import { feeOnTransferTokenAbi, feeOnTransferTokenBytecode } from '@openearn/contracts'
import { type Address, decodeFunctionData, erc20Abi, type Hex, hashTypedData, keccak256, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { type OrderWorld, openOrderWorld } from '../../../test/chain/orderWorld.js'
import type { Answer } from '../../../test/harness.js'

let world: OrderWorld
beforeAll(async () => {
  world = await openOrderWorld()
})
afterAll(() => world.world.close())

const nobody = '0x00000000000000000000000000000000000a11ce'
const usd = 10n ** 6n

describe('200', () => {
  it('answers an order the published settlement contract takes, whose app data names distributor and order', async () => {
    const built = await world.build()
    expect(built.status, built.text).toBe(200)
    const { orderId, typedData, orderUid, settlement, cancellation, quote, expiresAt } = built.body
    const { domain, message } = typedData
    expect(domain).toEqual({
      ...{ name: 'Gnosis Protocol', version: 'v2', chainId: world.world.chainId },
      verifyingContract: world.settlement.address,
    })
    expect(message).toMatchObject({
      ...{ sellToken: world.tokenIn, buyToken: world.tokenOut, receiver: world.user.address, feeAmount: '0' },
      ...{ kind: 'sell', sellTokenBalance: 'erc20', buyTokenBalance: 'erc20', partiallyFillable: false },
      ...{ sellAmount: String(1_000n * usd), buyAmount: quote.minAmountOut },
    })
    const appData = `{"appCode":"acme","metadata":{"openearn":{"orderId":"${orderId}"}},"version":"1.1.0"}`
    expect(message.appData).toBe(keccak256(toHex(appData)))
    expect(quote.minAmountOut).toBe(String((BigInt(quote.amountOut) * 9_950n) / 10_000n))
    expect(message.validTo * 1_000).toBe(Date.parse(expiresAt))
    const digest = hashTypedData(typedData)
    const validTo = message.validTo.toString(16).padStart(8, '0')
    expect(orderUid).toBe(`${digest}${world.user.address.slice(2).toLowerCase()}${validTo}`)
    expect(settlement).toBe(world.settlement.address)
    expect(cancellation).toMatchObject({ to: settlement, value: '0', chainId: world.world.chainId })
    expect(decodeFunctionData({ abi: world.settlement.abi, data: cancellation.data })).toEqual({
      ...{ functionName: 'invalidateOrder', args: [orderUid] },
    })
    // What the contract itself computes of the order decides: it fills under this uid.
    await world.settlement.approve(built, world.user)
    expect((await world.settlement.settle(built, await world.sign(built))).status).toBe('success')
    expect(await world.settlement.filledAmount(orderUid)).toBe(1_000n * usd)
    expect(await world.world.balance(world.tokenOut, world.user.address)).toBe(BigInt(quote.minAmountOut))
  })

  it('asks for exactly the approval it needs, and for none where the allowance is enough', async () => {
    const built = await world.build({ amountIn: '777' })
    const [approval] = built.body.approvals
    expect(built.body.approvals).toHaveLength(1)
    expect(approval).toMatchObject({ type: 'approve', transaction: { to: world.tokenIn, value: '0' } })
    expect(decodeFunctionData({ abi: erc20Abi, data: approval.transaction.data })).toEqual({
      ...{ functionName: 'approve', args: [world.settlement.relayer, 777n] },
    })
    expect(approval.description).toContain(world.settlement.relayer)
    await world.settlement.approve(built, world.user)
    expect((await world.build({ amountIn: '777' })).body.approvals).toEqual([])
  })

  it('builds for a wallet that holds nothing yet, for an opportunity, in parts, and for as long as was asked', async () => {
    const vault = await world.world.vault(world.tokenOut)
    const asked = { opportunityId: vault.opportunityId.toUpperCase(), partiallyFillable: true, validForSeconds: 60 }
    const built = await world.build({ ...asked, userAddress: nobody, receiver: nobody.toUpperCase().replace('X', 'x') })
    expect(built.status, built.text).toBe(200)
    const { typedData, orderId, expiresAt } = built.body
    const openearn = `{"orderId":"${orderId}","opportunityId":"${vault.opportunityId}"}`
    const appData = `{"appCode":"acme","metadata":{"openearn":${openearn}},"version":"1.1.0"}`
    expect(typedData.message).toMatchObject({ partiallyFillable: true, appData: keccak256(toHex(appData)) })
    expect(Date.parse(expiresAt)).toBe(world.world.earn.ctx.clock.now().getTime() + 60_000)
    expect((await world.status(orderId)).body).toMatchObject({
      status: 'built',
      filledIn: '0',
      txHashes: [],
      error: null,
    })
  })

  it('buys the native token, and answers the same again under an idempotency key', async () => {
    await world.exchange.v2Pool(world.weth, world.tokenIn, 10n ** 19n, 20_000n * usd)
    const headers = { 'Idempotency-Key': 'order-1' }
    const body = {
      ...{ userAddress: world.user.address, chainId: world.world.chainId, tokenIn: world.tokenIn, tokenOut: 'native' },
      ...{ amountIn: '1000000', slippageBps: 50, distributorId: 'acme' },
    }
    const first = await world.world.earn.call('BuildSwapOrder', { body, headers })
    expect(first.status, first.text).toBe(200)
    expect(first.body.typedData.message.buyToken).toBe('0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE')
    const again = await world.world.earn.call('BuildSwapOrder', { body, headers })
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
  })
})

/** Asks, and shows that the refusal kept nothing. */
async function refusedBuild(changes: Record<string, unknown>, status: number, says: RegExp, reason?: string) {
  const before = await world.kept()
  const answer: Answer = await world.build(changes)
  expect(answer.status, answer.text).toBe(status)
  expect(answer.body.error).toMatch(says)
  expect(answer.body.reason).toBe(reason)
  expect(await world.kept()).toEqual(before)
}

describe('400 INVALID_ARGUMENT', () => {
  it('says of the native token that it has to be wrapped first', async () => {
    const wrap = new RegExp(`wrap it into ${world.weth} first`)
    await refusedBuild({ tokenIn: 'native' }, 400, wrap)
    await refusedBuild({ tokenIn: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE' }, 400, wrap)
  })

  it('refuses the same token twice, an amount of 0, and slippage or validity out of bounds', async () => {
    await refusedBuild({ tokenOut: world.tokenIn.toLowerCase() }, 400, /another token/)
    await refusedBuild({ amountIn: '0' }, 400, /amountIn/)
    await refusedBuild({ amountIn: 1 }, 400, /amountIn/)
    await refusedBuild({ amountIn: String(2n ** 256n) }, 400, /amountIn/)
    for (const slippageBps of [0, 5_001, 1.5]) await refusedBuild({ slippageBps }, 400, /slippageBps/)
    for (const validForSeconds of [59, 86_401]) await refusedBuild({ validForSeconds }, 400, /validForSeconds/)
  })

  it('refuses a token no chain knows, one that takes a fee, and what nobody exchanges', async () => {
    await refusedBuild({ tokenOut: nobody }, 400, /no ERC-20 token/, 'TOKEN_UNSUPPORTED')
    await refusedBuild({ tokenIn: nobody }, 400, /no ERC-20 token/, 'TOKEN_UNSUPPORTED')
    const alone = await world.world.token()
    await refusedBuild({ tokenOut: alone }, 400, /no exchange/, 'NO_ROUTE')
    const { deploy } = world.world.anvil
    const token = { abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode }
    const taking: Address = await deploy({ ...token, args: ['Taking', 'FEE', 6, 100n] })
    await world.world.mint(taking, account(0).address, 2_000_000n * usd)
    await world.exchange.v2Pool(taking, world.tokenOut, 1_000n * usd, 10n ** 18n)
    await world.world.mint(taking, world.user.address, 2_000n * usd)
    await refusedBuild({ tokenIn: taking }, 400, /./, 'TOKEN_UNSUPPORTED')
  })

  it('refuses an amount so small that nothing could be promised for it', async () => {
    const [tokenIn, tokenOut] = [world.tokenOut, world.tokenIn]
    await refusedBuild({ tokenIn, tokenOut, amountIn: '600000000' }, 400, /too small/, 'BELOW_MINIMUM')
    await refusedBuild({ tokenIn, tokenOut, amountIn: '1' }, 400, /no exchange/, 'NO_ROUTE')
  })

  it('refuses another receiver, the zero address, and a chain without a settlement or exchange', async () => {
    await refusedBuild({ receiver: nobody }, 400, /all output goes to the wallet that signs/)
    await refusedBuild({ userAddress: `0x${'0'.repeat(40)}` }, 400, /userAddress/)
    await refusedBuild({ chainId: 7 }, 400, /nothing can be swapped/)
    const { db } = world.world.earn
    await db`update chains set swap = swap - 'orders' where chain_id = ${world.world.chainId}`
    await world.world.refresh()
    await refusedBuild({}, 400, /orders are not settled on chain 31337; GetSwap/)
    await world.settlement.configure()
  })

  it('refuses an opportunity that takes another token than is bought', async () => {
    const vault = await world.world.vault(world.tokenIn)
    const { opportunityId } = vault
    await refusedBuild({ opportunityId }, 400, /takes TUSD/, 'TOKEN_NOT_ACCEPTED')
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses the distributor of another organization, and a key of another distributor', async () => {
    const { earn } = world.world
    const organizationId = await earn.organization()
    const foreign = await earn.key({ kind: 'publishable', organizationId })
    const before = await world.kept()
    expect(await world.build({}, foreign)).toMatchObject({ status: 403, body: { error: /another organization/ } })
    const bound = await earn.key({ kind: 'publishable', distributorId: await earn.distributor('other') })
    expect(await world.build({}, bound)).toMatchObject({ status: 403, body: { error: /another distributor/ } })
    expect(await world.kept()).toEqual(before)
  })
})

describe('404 NOT_FOUND', () => {
  it('knows no distributor and no opportunity of nobody', async () => {
    await refusedBuild({ distributorId: 'nobody' }, 404, /no such distributor/)
    await refusedBuild({ opportunityId: '01890a5d-ac96-774b-bcce-b302099a8057' }, 404, /no such opportunity/)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so where the chain cannot be asked, or names as settlement what is none', async () => {
    const gone = await world.world.withNode(
      () => goneNode(),
      () => world.build(),
    )
    expect(gone.status).toBe(503)
    await world.settlement.configure({ settlement: world.tokenIn.toLowerCase() as Hex })
    const odd = await world.build()
    expect(odd.status).toBe(503)
    expect(odd.body.error).toMatch(/settlement contract/)
    await world.settlement.configure()
  })
})
