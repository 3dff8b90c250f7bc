import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { openSwapWorldWith } from '../../../test/chain/swapWorld.js'

const ether = 10n ** 18n
const usd = 10n ** 6n
const alice = account(1)
let opened: Awaited<ReturnType<typeof openSwapWorldWith>>
let token: Address
let vault: WorldVault

beforeAll(async () => {
  opened = await openSwapWorldWith({ chain: { clock: 'wall' }, verifyPlans: false }, { pegUsd: '1' })
  const { world, exchange, weth, tokens } = opened
  token = tokens[0] as Address
  await exchange.v2Pool(weth, token, 1_000n * ether, 2_000_000n * usd)
  vault = await world.vault(token)
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${vault.opportunityId}`
  await world.refresh()
  await world.join(alice.address)
  await world.sync()
})
afterAll(() => opened?.world.close())

const buy = () => opened.swap({ tokenIn: 'native', tokenOut: token, amountIn: String(ether / 100n) })

/** A plan that is asked for when the newest block is so old. */
async function askLate(seconds: number, ask = buy) {
  const { timestamp } = await opened.world.anvil.client.getBlock()
  opened.world.earn.clock.set(new Date((Number(timestamp) + seconds) * 1_000))
  return ask()
}

const refused = (seconds: number) => ({
  status: 503,
  body: {
    status: 'UNAVAILABLE',
    error: expect.stringMatching(
      new RegExp(`^the node of Devnet is behind: its newest block, \\d+, is ${seconds} s old; try again`),
    ),
    context: { retryable: true, behindSeconds: seconds },
  },
})

describe('a plan with a deadline, where the newest block of the node is late', () => {
  it('is built up to a minute, and then refused until the node has caught up', async () => {
    expect((await askLate(60)).status).toBe(200)
    expect(await askLate(61)).toMatchObject(refused(61))
    await opened.world.anvil.pass(61)
    expect((await buy()).status).toBe(200)
  })

  it('is refused of a swap into a vault and out of it as well', async () => {
    const { earn, distributorId } = opened.world
    const params = { opportunityId: vault.opportunityId }
    const common = { userAddress: alice.address, distributorId, mode: 'swap', simulate: false }
    const zapIn = () =>
      earn.call('CreateDepositInteraction', {
        params,
        body: { ...common, tokenIn: opened.weth, amount: String(ether / 100n) },
      })
    const zapOut = () =>
      earn.call('CreateWithdrawInteraction', {
        params,
        body: {
          userAddress: alice.address,
          distributorId,
          simulate: false,
          tokenOut: opened.weth,
          amount: String(ether),
        },
      })
    expect(await askLate(75, zapIn)).toMatchObject(refused(75))
    expect(await askLate(75, zapOut)).toMatchObject(refused(75))
  })

  it('is built up to ten block times of a chain of slow blocks', async () => {
    await opened.world.anvil.client.mine({ blocks: 120, interval: 30 })
    await opened.world.sync()
    expect((await askLate(290)).status).toBe(200)
    expect(await askLate(310)).toMatchObject(refused(310))
  })

  it('is built, and taken by the router, where the clock of the chain is ahead of the wall clock', async () => {
    const { anvil } = opened.world
    await askLate(0)
    await anvil.pass(3 * 86_400)
    const plan = await buy()
    expect(plan.body).toMatchObject({ simulation: { status: 'ok' } })
    await opened.world.send(plan, alice)
  })

  it('is built of a chain that keeps its own clock, however old its newest block is', async () => {
    const chain = opened.world.earn.ctx.chains.get(opened.world.chainId)
    if (!chain) throw new Error('the world has a chain')
    chain.clock = 'chain'
    expect((await askLate(86_400)).status).toBe(200)
    chain.clock = 'wall'
    expect((await askLate(86_400)).status).toBe(503)
  })
})
