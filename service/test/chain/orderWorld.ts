import type { Address, Hex, PrivateKeyAccount } from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import type { Answer } from '../harness.js'
import { openSettlement } from './settlement.js'
import { openSwapWorld } from './swapWorld.js'

export type OrderWorld = Awaited<ReturnType<typeof openOrderWorld>>

const ether = 10n ** 18n
const usd = 10n ** 6n

/** A world with two tokens, a pool between them and a settlement contract; its first account holds of the first token. */
export async function openOrderWorld() {
  const opened = await openSwapWorld({}, { decimals: 18 })
  const { world, exchange } = opened
  const [tokenIn, tokenOut] = opened.tokens
  await exchange.v2Pool(tokenIn, tokenOut, 1_000_000n * usd, 500n * ether)
  const settlement = await openSettlement(world)
  const user = account(1)
  await world.mint(tokenIn, user.address, 1_000_000n * usd)
  // Of this the orders that tests settle themselves are paid.
  await world.mint(tokenOut, settlement.address, 100n * ether)
  const build = (changes: Record<string, unknown> = {}, key?: string): Promise<Answer> =>
    world.earn.call('BuildSwapOrder', {
      body: {
        ...{ userAddress: user.address, chainId: world.chainId, tokenIn, tokenOut, amountIn: String(1_000n * usd) },
        ...{ slippageBps: 50, distributorId: world.distributorId, ...changes },
      },
      ...(key ? { key } : {}),
    })
  const sign = (built: Answer, as: PrivateKeyAccount = user): Promise<Hex> => as.signTypedData(built.body.typedData)
  const submit = (orderId: string, signature: string, options: { key?: string } = {}): Promise<Answer> =>
    world.earn.call('SubmitSwapOrder', { body: { orderId, signature }, ...options })
  const status = (orderId: string, options: { key?: string } = {}): Promise<Answer> =>
    world.earn.call('GetSwapOrderStatus', { params: { orderId }, ...options })
  return {
    ...opened,
    ...{ tokenIn, tokenOut, settlement, user, build, sign, submit, status },
    /** Builds, approves and submits an order of the user. */
    open: async (changes: Record<string, unknown> = {}) => {
      const built = await build(changes)
      if (built.status !== 200) throw new Error(`no order to submit: ${built.text}`)
      await settlement.approve(built, user)
      const signature = await sign(built)
      const submitted = await submit(built.body.orderId, signature)
      if (submitted.status !== 200) throw new Error(`the order was refused: ${submitted.text}`)
      return { built, signature, orderId: built.body.orderId as string }
    },
    /** What is kept of orders: nothing of it may change by what is refused. */
    kept: () =>
      world.earn.db<object[]>`
        select o.*, (select count(*) from order_events e where e.order_id = o.id) as events from swap_orders o
        order by o.created_at, o.id`,
  }
}

export const addressOf = (index: number): Address => account(index).address
