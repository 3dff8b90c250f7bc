import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'
import { refused } from '../../../test/refused.js'
import { waitForOutcome } from '../../cli/dev/receipt.js'

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let router: Address
let dollar: Address
let coin: Address

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1', hub: true }, { decimals: 18 })
  ;({ world } = opened)
  ;[dollar, coin] = opened.tokens
  // V3 alone: from the native token to the coin the way leads over the dollar.
  await opened.exchange.v3Pool(opened.weth, dollar, 500, 1_000n * ether, 2_000_000n * usd)
  await opened.exchange.v3Pool(dollar, coin, 3_000, 2_000_000n * usd, 1_000n * ether)
  router = await opened.exchange.useRouter02()
  await world.mint(dollar, user.address, 100_000n * usd)
  await world.mint(coin, user.address, 100n * ether)
})
afterAll(() => world.close())

const swap = (tokenIn: string, tokenOut: string, amountIn: bigint) =>
  opened.swap({ tokenIn, tokenOut, amountIn: String(amountIn) })
const held = (token: string) =>
  token === 'native'
    ? world.anvil.client.getBalance({ address: user.address })
    : world.balance(token as Address, user.address)
const last = (answer: Answer) => answer.body.transactions.at(-1)

// Every plan of this world is verified by the sdk as well.
it.each([
  ['a token for a token', () => [dollar, coin, 1_000n * usd] as const],
  ['the native token for a token', () => ['native', dollar, ether] as const],
  ['the native token for a token over another', () => ['native', coin, ether] as const],
  ['a token for the native token', () => [dollar, 'native', 1_000n * usd] as const],
])('swaps %s at SwapRouter02 for exactly what was quoted', async (_title, pair) => {
  const [tokenIn, tokenOut, amountIn] = pair()
  const answer = await swap(tokenIn, tokenOut, amountIn)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.simulation.status).toBe('ok')
  expect(last(answer).transaction.to).toBe(router)
  const before = await held(tokenOut)
  const receipts = await world.send(answer, user)
  const paid = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  const gained = (await held(tokenOut)) - before + (tokenOut === 'native' ? paid : 0n)
  expect(String(gained)).toBe(last(answer).metadata.amountOut)
  // Nothing is left with the router.
  expect(await world.balance(opened.weth, router)).toBe(0n)
  expect(await world.anvil.client.getBalance({ address: router })).toBe(0n)
})

it('reverts at SwapRouter02 once the plan is no longer valid', async () => {
  const { client } = world.anvil
  const answer = await swap('native', dollar, ether)
  const { to, data, value, gasLimit } = last(answer).transaction as Record<string, string>
  const until = BigInt(Date.parse(answer.body.validUntil) / 1_000)
  const call = { account: user, to: to as Address, data: data as Hex, value: BigInt(value!), gas: BigInt(gasLimit!) }
  const now = (await client.getBlock()).timestamp
  const sendAt = async (time: bigint) => {
    await client.request({ method: 'evm_setNextBlockTimestamp' as never, params: [Number(time)] as never })
    return waitForOutcome(client, await client.sendTransaction(call))
  }
  expect((await sendAt(until > now ? until + 1n : now + 1n)).status).toBe('reverted')
})

it('does not call a SwapRouter02 of another factory', async () => {
  await opened.exchange.configure({ v3: dollar, v2: dollar, routerKind: 'swap-router-02' })
  const answer = await swap(dollar, coin, usd)
  await opened.exchange.configure()
  expect(answer.status).toBe(503)
  refused(await swap(dollar, dollar, usd), undefined)
})
