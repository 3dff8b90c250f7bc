import { signDigest } from '@openearn/attribution'
import {
  type Address,
  erc20Abi,
  maxUint256,
  type PrivateKeyAccount,
  parseAbi,
  parseEther,
  parseEventLogs,
  parseGwei,
} from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import { createOrderLook } from '../../src/features/solver/index.js'
import { createSender } from '../../src/rpc/sender/index.js'
import { createKeySigner } from '../../src/rpc/signer.js'
import { keyOf } from '../actionWorld.js'
import { openOrderWorld } from './orderWorld.js'

const routerAbi = parseAbi([
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
])
const allowAbi = parseAbi(['function addSolver(address solver)'])

export type SolverWorld = Awaited<ReturnType<typeof openSolverWorld>>

/** A world of orders with a solver of its own, that the settlement contract takes, and what it does at a block. */
export async function openSolverWorld(options: { costMax?: bigint } = {}) {
  const opened = await openOrderWorld()
  const { world, settlement, tokenIn, tokenOut, user } = opened
  const { client } = world.anvil
  const signer = createKeySigner(keyOf(2).key, signDigest)
  await world.write(settlement.authenticator, allowAbi, 'addSolver', [signer.address])
  const [chain] = world.earn.ctx.chains.values()
  if (!chain) throw new Error('the world has a chain')
  const caps = { gasPrice: parseGwei('500'), spending: parseEther('100') }
  const settings = { solver: signer, costMax: options.costMax ?? parseEther('1') }
  const openParts = (ctx = world.earn.ctx) => ({
    look: createOrderLook(settings),
    sender: createSender(ctx, { chain: ctx.chains.get(world.chainId) ?? chain, signer, caps }),
    ctx,
  })
  const parts = openParts()
  /** Swaps at the pool as anyone may: of the token that orders sell, or back. */
  const trade = async (sold: Address, bought: Address, amount: bigint) => {
    const trader = account(5)
    await world.mint(sold, trader.address, amount)
    await world.write(sold, erc20Abi, 'approve', [opened.exchange.v2.router, maxUint256], trader)
    const args = [amount, 0n, [sold, bought], trader.address, 10_000_000_000n]
    await world.write(opened.exchange.v2.router, routerAbi, 'swapExactTokensForTokens', args, trader)
  }
  /** The node says that it took a transaction before it has mined it. */
  const send = async () => {
    await parts.sender.step()
    await client.mine({ blocks: 1 })
  }
  const step = async () => {
    await parts.look(parts.ctx)
    await send()
    await world.sync()
    await parts.sender.step()
  }
  /** An order of another wallet than the user, which gets what it sells and approves it. */
  const openOf = async (owner: PrivateKeyAccount, changes: Record<string, unknown> = {}): Promise<string> => {
    const amountIn = 10_000_000n
    const built = await opened.build({ userAddress: owner.address, amountIn: String(amountIn), ...changes })
    await world.mint(tokenIn, owner.address, amountIn)
    await settlement.approve(built, owner)
    const submitted = await opened.submit(built.body.orderId, await opened.sign(built, owner))
    if (submitted.status !== 200) throw new Error(`the order was refused: ${submitted.text}`)
    return built.body.orderId
  }
  return {
    ...opened,
    ...{ signer, openParts, openOf, trade, step },
    look: () => parts.look(parts.ctx),
    send,
    /** A new block, and what the solver does at it. */
    turn: async () => {
      await client.mine({ blocks: 1 })
      await world.sync()
      await step()
    },
    /** A block so much later. */
    later: async (seconds: number) => {
      const { timestamp } = await client.getBlock()
      await client.setNextBlockTimestamp({ timestamp: timestamp + BigInt(seconds) })
      await client.mine({ blocks: 1 })
      await world.sync()
    },
    /** A block after an instant. */
    passBy: async (instant: Date) => {
      await client.setNextBlockTimestamp({ timestamp: BigInt(instant.getTime() / 1_000 + 1) })
      await client.mine({ blocks: 1 })
      await world.sync()
    },
    /** What the user was paid in a transaction, and by whom. */
    readPaid: async (hash: `0x${string}`) => {
      const { logs } = await client.getTransactionReceipt({ hash })
      const moves = parseEventLogs({ abi: erc20Abi, logs, eventName: 'Transfer' })
      const bought = moves.filter(({ address }) => address.toLowerCase() === tokenOut.toLowerCase())
      const sum = (all: typeof bought) => all.reduce((total, { args }) => total + args.value, 0n)
      const isNot = (a: Address) => (b: Address) => a.toLowerCase() !== b.toLowerCase()
      const ofUser = bought.filter(({ args }) => !isNot(user.address)(args.to))
      // What came from the pool is the only one that comes from neither the settlement contract nor a payout.
      return { paid: sum(ofUser), received: sum(bought.slice(0, 1)), tokenIn }
    },
  }
}
