import { type Address, erc20Abi, type Hex, maxUint256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSolverWorld, type SolverWorld } from '../../../test/chain/solverWorld.js'
import { derivedId } from '../../kernel/ids.js'
import { OutboundError } from '../../kernel/outbound.js'
import { recordPeg } from '../../prices/index.js'
import type { Chain } from '../../rpc/chains.js'
import type { RpcRequest } from '../../rpc/rpc.js'
import { settleOrders } from '../../server/jobs.js'
import { createOrderLook, type OrderSettings, usualLimits } from './index.js'

/** What keeps a stranger from spending the solver's day, and one order from keeping others waiting. */

const usd = 10n ** 6n
const ether = 10n ** 18n

let s: SolverWorld
beforeAll(async () => {
  s = await openSolverWorld()
  await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], s.user)
})
afterAll(() => s?.world.close())

const show = async (orderId: string) => (await s.status(orderId)).body
const outcomesOf = async (orderId: string): Promise<string[]> =>
  (await show(orderId)).attempts.map(({ outcome }: { outcome: string }) => outcome)
const settlementsOf = (orderId: string) =>
  s.world.earn.db<{ id: string; amountIn: string; costMax: string }[]>`
    select id, amount_in as "amountIn", cost_max as "costMax" from order_settlements where order_id = ${orderId}`
const mine = async () => {
  await s.world.anvil.client.mine({ blocks: 1 })
  await s.world.sync()
}

/** A context whose node answers some requests in another way; undefined: as it is. */
function answering(answer: (request: RpcRequest) => unknown) {
  const { earn, chainId } = s.world
  const chain = earn.ctx.chains.get(chainId) as Chain
  const request: Chain['rpc']['request'] = async (asked) => (await answer(asked)) ?? chain.rpc.request(asked)
  const rpc = { ...chain.rpc, request }
  return { ...earn.ctx, chains: new Map([[chainId, { ...chain, rpc: { ...rpc, as: () => rpc } }]]) }
}
const settings = (changes: Partial<OrderSettings> = {}): OrderSettings => ({
  ...{ solver: s.signer, costMax: ether, ...changes },
})
/** Another process than that of the world. */
const lookWith = (changes: Partial<OrderSettings>, ctx = s.world.earn.ctx) => createOrderLook(settings(changes))(ctx)

const signatureOf = async (orderId: string): Promise<string> => {
  const [row] = await s.world.earn.db<{ signature: string }[]>`
    select encode(signature, 'hex') as signature from swap_orders where id = ${orderId}`
  return row?.signature ?? ''
}
const isEstimateOf = (signature: string, { method, params }: RpcRequest): boolean =>
  method === 'eth_estimateGas' && JSON.stringify(params).includes(signature)

describe('a settlement', { timeout: 60_000 }, () => {
  it('is not queued where the signed gas limit times its price is one unit above the cap, and is where it is the cap', async () => {
    const { orderId } = await s.open()
    const [gas, price] = [300_000n, 7_000_000_000n]
    // With the sender's quarter more.
    const signed = 375_000n * price
    const ctx = answering(({ method }) =>
      method === 'eth_estimateGas'
        ? `0x${gas.toString(16)}`
        : method === 'eth_gasPrice'
          ? `0x${price.toString(16)}`
          : undefined,
    )
    await s.world.sync()
    await lookWith({ costMax: signed - 1n }, ctx)
    expect(await settlementsOf(orderId)).toHaveLength(0)
    expect((await show(orderId)).attempts).toMatchObject([
      { outcome: 'tooDear', detail: expect.stringContaining(String(signed)) },
    ])
    await mine()
    await lookWith({ costMax: signed }, ctx)
    expect(await settlementsOf(orderId)).toHaveLength(1)
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
    await s.turn()
    expect(await outcomesOf(orderId)).toEqual(['filled', 'considered', 'tooDear'])
  })

  it('waits, and none is queued, while the settlement contract counts more as filled than what is derived', async () => {
    const owner = account(8)
    const built = await s.build({ userAddress: owner.address, partiallyFillable: true })
    const { orderId } = built.body
    await s.world.mint(s.tokenIn, owner.address, 1_000n * usd)
    await s.settlement.approve(built, owner)
    const signature = await s.sign(built, owner)
    expect((await s.submit(orderId, signature)).status).toBe(200)
    await s.world.sync()
    // What is left to its owner is less than the old rest, and than the new one: a settlement of it would pass.
    await s.world.write(s.tokenIn, erc20Abi, 'transfer', [account(5).address, 100n * usd], owner)
    await s.settlement.settle(built, signature, { part: 400n * usd })
    await s.look()
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await mine()
    await s.look()
    expect(await settlementsOf(orderId)).toMatchObject([{ amountIn: String(500n * usd) }])
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'partially-filled', filledIn: String(900n * usd) })
    await s.world.earn.db`update swap_orders set failed_at = now(), failure = 'over' where id = ${orderId}`
  })

  it('of one of two orders through the same pool is queued in one look, and the other at a later block', async () => {
    const orders = [await s.openOf(account(6)), await s.openOf(account(7))]
    await s.world.sync()
    await s.look()
    const counts = await Promise.all(orders.map(async (id) => (await settlementsOf(id)).length))
    expect(counts.toSorted()).toEqual([0, 1])
    await s.turn()
    await s.turn()
    expect((await Promise.all(orders.map(show))).map(({ status }) => status)).toEqual(['filled', 'filled'])
  })

  it('that is sent and not mined has an empty transaction offered in its place when its order is over', async () => {
    const { client } = s.world.anvil
    const { orderId } = await s.open()
    await s.world.sync()
    await s.look()
    const { sender } = s.openParts()
    await client.setAutomine(false)
    await sender.step()
    await client.request({ method: 'anvil_dropAllTransactions' } as never)
    await client.setAutomine(true)
    const { to, data } = (await show(orderId)).cancellation
    await s.world.anvil.done(client.sendTransaction({ account: s.user, to, data }))
    await s.world.sync()
    await s.look()
    await sender.step()
    const [{ id } = { id: '' }] = await settlementsOf(orderId)
    expect(
      await s.world.earn.db`
        select is_cancellation from outgoing_attempts where transaction_id = ${id} order by attempt desc limit 1`,
    ).toEqual([{ is_cancellation: true }])
    for (let turn = 0; turn < 3; turn++) await s.turn()
    expect(await s.world.earn.db`select state from outgoing_transactions where id = ${id}`).toEqual([
      { state: 'cancelled' },
    ])
  })

  it('is not queued for an order of the outside order book', async () => {
    const { orderId } = await s.open()
    await s.world.earn.db`update swap_orders set venue = 'cow' where id = ${orderId}`
    await mine()
    await s.look()
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await s.world.earn.db`update swap_orders set venue = 'local' where id = ${orderId}`
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
  })

  it('is not queued for an order of a settlement contract that is not set up any more', async () => {
    const { orderId } = await s.open()
    await s.settlement.configure({ settlement: account(8).address.toLowerCase() as Address })
    await mine()
    await s.look()
    expect(await settlementsOf(orderId)).toHaveLength(0)
    await s.settlement.configure()
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
  })

  it('is not sent to a payout account that somebody made before: another one is taken', async () => {
    const { orderId } = await s.open()
    const { earn, anvil } = s.world
    await s.world.sync()
    const id = derivedId(`settlement:${orderId}:1`)
    let seen: string | undefined
    // What it would be is known to who knows the id and the quote.
    const spy = answering(({ method, params }) => {
      if (method === 'eth_getCode') seen ??= (params as string[])[0]
      return undefined
    })
    await lookWith({ costMax: 1n }, spy)
    expect(seen).toMatch(/^0x/)
    await anvil.client.setCode({ address: seen as Address, bytecode: '0x00' })
    await mine()
    await s.look()
    const [row] = await settlementsOf(orderId)
    expect(row?.id).not.toBe(id)
    expect(row?.id).toBe(derivedId(`settlement:${orderId}:1:1`))
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
    expect(await earn.db`select from order_settlements where order_id = ${orderId}`).toHaveLength(1)
  })

  it('is simulated on the chains for trials, with a cap of gas', async () => {
    const { orderId } = await s.open()
    const asked: RpcRequest[] = []
    const trial = answering((request) => {
      if (request.method === 'eth_estimateGas') asked.push(request)
      return undefined
    })
    const own = answering(({ method }) => {
      if (method === 'eth_estimateGas') throw new Error('the watcher’s connections run no strangers’ code')
      return undefined
    })
    await s.world.sync()
    await lookWith({ trialChains: trial.chains }, own)
    expect(await settlementsOf(orderId)).toHaveLength(1)
    expect(asked).toMatchObject([{ params: [{ gas: '0x1e8480' }] }])
    await s.turn()
  })
})

describe('one order that keeps others waiting', { timeout: 60_000 }, () => {
  it('by an estimate that the node does not finish is refused alone: the other is filled at that block', async () => {
    const [slow, other] = [await s.openOf(account(6)), await s.openOf(account(7))]
    await s.world.earn.db`update swap_orders set submitted_at = submitted_at - interval '1 hour' where id = ${slow}`
    const signature = await signatureOf(slow)
    const ctx = answering((request) => {
      if (isEstimateOf(signature, request)) throw new OutboundError('timeout', 'the node did not answer in time')
      return undefined
    })
    const { look, sender } = s.openParts(ctx)
    await mine()
    await look(ctx)
    await sender.step()
    await mine()
    expect((await show(other)).status).toBe('filled')
    expect((await show(slow)).attempts).toMatchObject([
      { outcome: 'reverted', detail: expect.stringContaining('in time') },
    ])
    // Each failure makes it wait longer: so many looks, so few tries.
    let tries = 0
    const counting = answering((request) => {
      if (isEstimateOf(signature, request)) {
        tries += 1
        throw new OutboundError('timeout', 'the node did not answer in time')
      }
      return undefined
    })
    const again = s.openParts(counting)
    for (let block = 0; block < 12; block++) {
      await s.later(5)
      await again.look(counting)
    }
    expect(tries).toBe(3)
    expect(await settlementsOf(slow)).toHaveLength(0)
    await s.later(3_600)
    await s.turn()
    expect((await show(slow)).status).toBe('filled')
  })

  it('by a look that fails does not keep what is queued from being sent', async () => {
    const { orderId } = await s.open()
    await s.world.sync()
    await s.look()
    await mine()
    const signature = await signatureOf(orderId)
    const ctx = answering(({ method, params }) => {
      // What the look asks of orders; what the sender asks of its transaction is answered.
      if (method === 'eth_call' && !JSON.stringify(params).includes(signature))
        throw new OutboundError('timeout', 'the node did not answer in time')
      return undefined
    })
    await expect(settleOrders(settings())(ctx)).rejects.toThrow()
    await mine()
    expect((await show(orderId)).status).toBe('filled')
    await s.send()
  })

  it('by a settlement that is too dear to be sent frees its pool after two minutes, and leaves few rows', async () => {
    const { orderId } = await s.open()
    const other = await s.openOf(account(7))
    await s.world.sync()
    await s.look()
    const { clock, db } = s.world.earn
    const queuedOf = async () => (await db<object[]>`select from outgoing_transactions where state = 'queued'`).length
    expect(await queuedOf()).toBe(1)
    clock.set(new Date(clock.now().getTime() + 121_000))
    await mine()
    // It is cancelled in the queue at one block, and closed at the next.
    await s.look()
    expect(await queuedOf()).toBe(0)
    for (let turn = 0; turn < 4; turn++) await s.turn()
    expect((await Promise.all([orderId, other].map(show))).map(({ status }) => status)).toEqual(['filled', 'filled'])
  })

  it('by cancels of its settlement is tried again after longer and longer waits', async () => {
    const { orderId } = await s.open()
    for (let block = 0; block < 12; block++) {
      await s.later(5)
      await s.look()
      await s.world.earn.db`
        update outgoing_transactions o set state = 'cancelled' from order_settlements x
        where x.id = o.id and x.order_id = ${orderId} and o.state = 'queued'`
    }
    expect((await settlementsOf(orderId)).length).toBeLessThanOrEqual(4)
    await s.later(3_600)
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
  })
})

describe('the gas of the solver', { timeout: 120_000 }, () => {
  const balanceOf = () => s.world.anvil.client.getBalance({ address: s.signer.address })
  const peg = (token: Address, priceUsd: string) =>
    recordPeg(s.world.earn.ctx, { chainId: s.world.chainId, address: token.toLowerCase() }, priceUsd)

  it('is not spent on an order that refills itself with specks: by its worth, by its tokens, or by its fills an hour', async () => {
    const owner = account(6)
    const built = await s.build({ userAddress: owner.address, partiallyFillable: true, slippageBps: 5_000 })
    await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], owner)
    await s.world.write(
      s.tokenIn,
      erc20Abi,
      'transfer',
      [account(5).address, await s.world.balance(s.tokenIn, owner.address)],
      owner,
    )
    await s.world.mint(s.tokenIn, owner.address, BigInt(built.body.typedData.message.sellAmount))
    expect((await s.submit(built.body.orderId, await s.sign(built, owner))).status).toBe(200)
    const { orderId } = built.body
    await s.world.write(
      s.tokenIn,
      erc20Abi,
      'transfer',
      [account(5).address, await s.world.balance(s.tokenIn, owner.address)],
      owner,
    )
    const play = async (blocks: number, changes: Partial<OrderSettings>) => {
      const before = await balanceOf()
      const look = createOrderLook(settings(changes))
      for (let block = 0; block < blocks; block++) {
        await s.world.mint(s.tokenIn, owner.address, 10_000n)
        await s.world.sync()
        await look(s.world.earn.ctx)
        await s.send()
        await s.world.sync()
        await s.send()
      }
      return before - (await balanceOf())
    }
    // Without prices: so many fills in an hour, and no more.
    expect(await play(8, { limits: { ...usualLimits, fillsPerHour: 3 } })).toBeGreaterThan(0n)
    expect(await settlementsOf(orderId)).toHaveLength(3)
    await mine()
    await lookWith({ limits: { ...usualLimits, fillsPerHour: 3 } })
    await s.later(3_601)
    await peg(s.tokenIn, '1')
    await peg(s.weth, '2000')
    expect(await play(8, {})).toBe(0n)
    expect((await show(orderId)).attempts[0]).toMatchObject({
      outcome: 'tooDear',
      detail: expect.stringContaining('is worth'),
    })
    await s.world.earn.db`update tokens set active = false where address = ${s.tokenIn.toLowerCase()}`
    await s.world.refresh()
    await s.later(3_601)
    expect(await play(3, { limits: { ...usualLimits, worthFactor: 0 } })).toBe(0n)
    expect((await show(orderId)).attempts[0]).toMatchObject({
      outcome: 'noRoute',
      detail: expect.stringContaining('not listed'),
    })
    await s.world.earn.db`update tokens set active = true where address = ${s.tokenIn.toLowerCase()}`
    await s.world.refresh()
    expect((await settlementsOf(orderId)).length).toBe(3)
    await s.world.earn.db`update swap_orders set failed_at = now(), failure = 'over' where id = ${orderId}`
  })

  it('is bounded by the shares where settlements pass, and then revert: a pool’s, and all that may be risked in a day', async () => {
    const { client } = s.world.anvil
    const { db } = s.world.earn
    const before = await balanceOf()
    const budget = ether / 50n
    const look = createOrderLook(settings({ limits: { ...usualLimits, tokens: 'any', budget } }))
    const orders: string[] = []
    for (let index = 3; index < 9; index++) {
      await client.setBalance({ address: account(index).address, value: ether })
      orders.push(await s.openOf(account(index), { validForSeconds: 86_400 }))
    }
    await db`update tokens set active = false where address = ${s.tokenIn.toLowerCase()}`
    await s.world.refresh()
    const code = (await client.getCode({ address: s.tokenIn })) as Hex
    const { sender } = s.openParts()
    let sent = 0
    for (let block = 0; block < 24; block++) {
      await s.later(300)
      await look(s.world.earn.ctx)
      await client.setAutomine(false)
      await sender.step()
      // One switch for all: their token uses up all gas in this block.
      await client.setCode({ address: s.tokenIn, bytecode: '0xfe' })
      await client.mine({ blocks: 1 })
      await client.setCode({ address: s.tokenIn, bytecode: code })
      await client.setAutomine(true)
      await s.world.sync()
      await sender.step()
      sent = (await db<object[]>`select from order_settlements where outcome = 'reverted'`).length
    }
    const spent = before - (await balanceOf())
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(8)
    expect(spent).toBeLessThanOrEqual(budget / 10n)
    console.log(`${orders.length} orders, 24 blocks: ${sent} reverts, ${spent} wei spent of ${budget / 10n}`)
    await db`update swap_orders set failed_at = now(), failure = 'over' where failed_at is null and id = any(${orders}::uuid[])`
    await db`update tokens set active = true where address = ${s.tokenIn.toLowerCase()}`
    await s.world.refresh()
    await s.turn()
    // An order that no stranger's code can hold up is filled through the same pool.
    await s.world.mint(s.tokenIn, s.user.address, 1_000n * usd)
    const { orderId } = await s.open()
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
  })
})
