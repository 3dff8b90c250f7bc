import { buildSuffix, calldataBytes, formatHex, readTails } from '@openearn/attribution'
import { type Address, erc20Abi, maxUint256, type PrivateKeyAccount, parseAbiItem } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { keyOf } from '../../../test/actionWorld.js'
import { openSolverWorld, type SolverWorld } from '../../../test/chain/solverWorld.js'
import { seededRandom, times } from '../../../test/seed.js'

const usd = 10n ** 6n

let s: SolverWorld
beforeAll(async () => {
  s = await openSolverWorld()
})
afterAll(() => s?.world.close())

const show = async (orderId: string) => (await s.status(orderId)).body
const held = (token: Address, holder: Address) => s.world.balance(token, holder)

/** What all fills of an order paid, held against the chain to the unit. */
async function checkFills(orderId: string): Promise<void> {
  const order = await show(orderId)
  let [paid, received] = [0n, 0n]
  for (const hash of order.txHashes) {
    const moved = await s.readPaid(hash)
    paid += moved.paid
    received += moved.received
  }
  expect(paid).toBe(received)
  expect(BigInt(order.filledOut)).toBeLessThanOrEqual(paid)
  expect(await s.settlement.filledAmount(order.orderUid)).toBe(BigInt(order.filledIn))
  // No part is below the limit.
  expect(BigInt(order.filledOut) * BigInt(order.amountIn)).toBeGreaterThanOrEqual(
    BigInt(order.filledIn) * BigInt(order.minAmountOut),
  )
}

const cancel = async (orderId: string) => {
  const { to, data, value } = (await show(orderId)).cancellation
  const { client, done } = s.world.anvil
  await done(client.sendTransaction({ account: s.user, to, data, value: BigInt(value) }))
  await s.world.sync()
}

describe('an order of our own book', { timeout: 60_000 }, () => {
  it('is filled at the next block: all that the pool gives goes to the owner, and the settlement is signed for it', async () => {
    const kept = await held(s.tokenOut, s.settlement.address)
    const before = await held(s.tokenOut, s.user.address)
    const { orderId } = await s.open()
    await s.turn()
    const order = await show(orderId)
    expect(order).toMatchObject({ status: 'filled', filledIn: String(1_000n * usd) })
    expect((await held(s.tokenOut, s.user.address)) - before).toBe(BigInt(order.filledOut))
    expect(await held(s.tokenOut, s.settlement.address)).toBe(kept)
    await checkFills(orderId)
    const { input } = await s.world.anvil.client.getTransaction({ hash: order.txHashes[0] })
    const bytes = calldataBytes(input)
    const signed = buildSuffix({
      ...{ code: 'acme', actionId: orderId, chainId: s.world.chainId, privateKey: (await keyOf(9)).key },
      ...{ wallet: s.signer.address, target: s.settlement.address },
      data: formatHex(bytes.subarray(0, readTails(bytes).bodyEnd)),
    })
    expect(input.endsWith(signed.slice(2))).toBe(true)
    const [{ count } = { count: 0 }] = await s.world.earn.db<{ count: number }[]>`
      select count(*)::int as count from order_settlements where order_id = ${orderId}`
    expect(count).toBe(1)
  })

  it('that buys the native token is filled from the pool of what it is wrapped in', async () => {
    const { client } = s.world.anvil
    await s.exchange.v2Pool(s.weth, s.tokenIn, 10n ** 19n, 20_000n * usd)
    const { orderId } = await s.open({ tokenOut: 'native', amountIn: String(100n * usd) })
    const before = await client.getBalance({ address: s.user.address })
    await s.turn()
    const order = await show(orderId)
    expect(order).toMatchObject({ status: 'filled', filledIn: String(100n * usd) })
    expect((await client.getBalance({ address: s.user.address })) - before).toBe(BigInt(order.filledOut))
    expect(await client.getBalance({ address: s.settlement.address })).toBe(0n)
  })

  it('pays its owner what the pool gives beyond what was quoted', async () => {
    const kept = await held(s.tokenOut, s.settlement.address)
    const before = await held(s.tokenOut, s.user.address)
    const { orderId } = await s.open()
    await s.world.sync()
    await s.look()
    await s.trade(s.tokenOut, s.tokenIn, 10n ** 18n)
    await s.send()
    await s.world.sync()
    await s.send()
    const order = await show(orderId)
    expect(order.status).toBe('filled')
    const got = (await held(s.tokenOut, s.user.address)) - before
    expect(got).toBeGreaterThan(BigInt(order.filledOut))
    expect(await held(s.tokenOut, s.settlement.address)).toBe(kept)
    await checkFills(orderId)
  })

  it('waits while the pool gives less than its limit, is filled in parts where it may be, and then as a whole', async () => {
    const amountIn = String(100_000n * usd)
    const { orderId } = await s.open({ amountIn, partiallyFillable: true, slippageBps: 10 })
    const whole = await s.open({ amountIn: String(1_000n * usd), slippageBps: 10 })
    // The approval of the first was enough for the second too, but not for both.
    await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, 101_000n * usd], s.user)
    await s.trade(s.tokenIn, s.tokenOut, 8_000n * usd)
    for (let turn = 0; turn < 4; turn++) await s.turn()
    const part = await show(orderId)
    expect(part.status).toBe('partially-filled')
    expect(await show(whole.orderId)).toMatchObject({ status: 'open', filledIn: '0' })
    await s.trade(s.tokenOut, s.tokenIn, 80n * 10n ** 18n)
    for (let turn = 0; turn < 6 && (await show(orderId)).status !== 'filled'; turn++) await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'filled', filledIn: amountIn })
    expect((await show(orderId)).txHashes.length).toBeGreaterThan(1)
    await checkFills(orderId)
    await s.turn()
    await s.turn()
    expect((await show(whole.orderId)).status).toBe('filled')
  })

  it('is cancelled by its owner after a part, and nothing of it is settled any more', async () => {
    const { orderId } = await s.open({ amountIn: String(100_000n * usd), partiallyFillable: true, slippageBps: 10 })
    await s.trade(s.tokenIn, s.tokenOut, 8_000n * usd)
    await s.turn()
    expect((await show(orderId)).status).toBe('partially-filled')
    await cancel(orderId)
    await s.trade(s.tokenOut, s.tokenIn, 80n * 10n ** 18n)
    await s.turn()
    const { status, filledIn } = await show(orderId)
    expect(status).toBe('cancelled')
    expect(BigInt(filledIn)).toBeGreaterThan(0n)
  })

  it('is cancelled by its owner before any part, and the settlement that waits to be sent is not sent', async () => {
    const { orderId } = await s.open()
    await s.world.sync()
    await s.look()
    const count = () => s.world.anvil.client.getTransactionCount({ address: s.signer.address })
    const sent = await count()
    await cancel(orderId)
    await s.turn()
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'cancelled', filledIn: '0', filledOut: '0' })
    expect(await count()).toBe(sent)
    expect(
      await s.world.earn.db<object[]>`
        select count(*)::int as made, count(*) filter (where is_open)::int as open
        from order_settlements where order_id = ${orderId}`,
    ).toEqual([{ made: 1, open: 0 }])
  })

  it('fails once its allowance was gone in three looks over a minute, and is not looked at again', async () => {
    const { orderId } = await s.open({ slippageBps: 1 })
    await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, 0n], s.user)
    await s.turn()
    expect((await show(orderId)).status).toBe('open')
    await s.later(61)
    await s.look()
    expect((await show(orderId)).status).toBe('open')
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'failed', error: expect.stringContaining('allowance') })
    await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, 1_000n * usd], s.user)
    await s.turn()
    expect((await show(orderId)).status).toBe('failed')
  })

  it('waits for a balance that is gone and is filled when it is back, and fails where it stays away', async () => {
    const other = account(6)
    const move = async (from: PrivateKeyAccount, to: PrivateKeyAccount) =>
      s.world.write(s.tokenIn, erc20Abi, 'transfer', [to.address, await held(s.tokenIn, from.address)], from)
    const lookTwice = async () => {
      await s.turn()
      await s.later(61)
      await s.look()
    }
    const first = await s.open()
    await move(s.user, other)
    await lookTwice()
    expect(await show(first.orderId)).toMatchObject({ status: 'open', error: null })
    await move(other, s.user)
    await s.turn()
    expect((await show(first.orderId)).status).toBe('filled')
    const { orderId } = await s.open()
    await move(s.user, other)
    await lookTwice()
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'failed', error: expect.stringContaining('balance') })
    await move(other, s.user)
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'failed', filledIn: '0' })
  })

  it('expires after a part by the time of the chain', async () => {
    const terms = { amountIn: String(100_000n * usd), partiallyFillable: true, slippageBps: 10, validForSeconds: 600 }
    const { orderId } = await s.open(terms)
    await s.trade(s.tokenIn, s.tokenOut, 8_000n * usd)
    await s.turn()
    const { filledIn } = await show(orderId)
    await s.passBy(new Date((await show(orderId)).expiresAt))
    await s.turn()
    expect(await show(orderId)).toMatchObject({ status: 'expired', filledIn })
    expect(BigInt(filledIn)).toBeGreaterThan(0n)
    await checkFills(orderId)
  })

  it('is not settled where that would cost more than the operator lets it, and one process looks at a time', async () => {
    const { orderId } = await s.open()
    const { createOrderLook } = await import('./jobSettle.js')
    const mean = createOrderLook({ solver: s.signer, costMax: 1n })
    await s.world.sync()
    await mean(s.world.earn.ctx)
    await s.send()
    const count = async () =>
      (await s.world.earn.db<object[]>`select from order_settlements where order_id = ${orderId}`).length
    expect(await count()).toBe(0)
    const looks = Array.from({ length: 4 }, () => createOrderLook({ solver: s.signer, costMax: 10n ** 18n }))
    await Promise.all(looks.map((look) => look(s.world.earn.ctx)))
    expect(await count()).toBe(1)
    await s.turn()
    expect((await show(orderId)).status).toBe('filled')
  })
})

it('is filled through a pool of Uniswap V3 beside a hundred that wait for a better price', {
  timeout: 60_000,
}, async () => {
  const { earn } = s.world
  // The best price by far: what the other pool gives is not enough.
  await s.exchange.v3Pool(s.tokenIn, s.tokenOut, 3_000, 1_000_000n * usd, 1_000n * 10n ** 18n)
  const { orderId } = await s.open({ slippageBps: 10 })
  await earn.db`
    insert into swap_orders
    select (jsonb_populate_record(o, jsonb_build_object('id', gen_random_uuid(), 'min_amount_out', 100 * o.min_amount_out,
      'uid', '\\x' || encode(substr(o.uid, 1, 52) || int4send(n), 'hex'),
      'created_at', o.created_at - interval '1 hour', 'submitted_at', o.submitted_at - interval '1 hour'))).*
    from swap_orders o, generate_series(1, 100) n where o.id = ${orderId}`
  await s.world.write(s.tokenIn, erc20Abi, 'approve', [s.settlement.relayer, maxUint256], s.user)
  for (let turn = 0; turn < 3 && (await show(orderId)).status !== 'filled'; turn++) await s.turn()
  expect((await show(orderId)).status).toBe('filled')
  await checkFills(orderId)
  await earn.db`
    delete from swap_orders w using swap_orders o where o.id = ${orderId} and w.min_amount_out = 100 * o.min_amount_out`
})

const tradeEvent = parseAbiItem(
  'event Trade(address indexed owner, address sellToken, address buyToken, uint256 sellAmount, uint256 buyAmount, uint256 feeAmount, bytes orderUid)',
)
/** `TEST_TIMES=50` tries 200. */
const rounds = times
const ordersPerRound = 4

it(`${rounds * ordersPerRound} random orders: filledIn and filledOut are the chain’s to the unit, no fill is below its limit, and all that routes gave is paid`, {
  timeout: 60_000 + 20_000 * rounds,
}, async () => {
  const random = seededRandom()
  const { world, settlement, user } = s
  const { client } = world.anvil
  await world.mint(s.tokenIn, user.address, BigInt(rounds) * 1_000_000n * usd)
  await world.write(s.tokenIn, erc20Abi, 'approve', [settlement.relayer, maxUint256], user)
  const fromBlock = await client.getBlockNumber()
  const [kept, owned] = await Promise.all([held(s.tokenOut, settlement.address), held(s.tokenOut, user.address)])
  const orders: { orderId: string; uid: string }[] = []
  const turnMarket = () =>
    random.chance(0.5)
      ? s.trade(s.tokenIn, s.tokenOut, BigInt(random.int(1, 8_000)) * usd)
      : s.trade(s.tokenOut, s.tokenIn, (BigInt(random.int(1, 4_000)) * 10n ** 18n) / 1_000n)
  for (let round = 0; round < rounds; round++) {
    for (let index = 0; index < ordersPerRound; index++) {
      const amountIn = String(random.int(1, 10 ** random.int(1, 11)))
      const terms = { amountIn, slippageBps: random.int(1, 100), partiallyFillable: random.chance(0.6) }
      const { orderId, built } = await s.open({ ...terms, validForSeconds: random.chance(0.2) ? 60 : 3_600 })
      orders.push({ orderId, uid: built.body.orderUid })
      await turnMarket()
    }
    for (let turn = 0; turn < 3; turn++) {
      await turnMarket()
      await s.turn()
    }
    const last = orders.at(-1)
    if (last && random.chance(0.3) && (await show(last.orderId)).status !== 'filled') await cancel(last.orderId)
    if (random.chance(0.3)) await s.later(61)
  }
  await s.turn()

  const trades = await client.getLogs({ address: settlement.address, event: tradeEvent, fromBlock })
  const statuses = new Map<string, number>()
  for (const { orderId, uid } of orders) {
    const order = await show(orderId)
    statuses.set(order.status, (statuses.get(order.status) ?? 0) + 1)
    const own = trades.filter(({ args }) => args.orderUid === uid)
    const sum = (of: 'sellAmount' | 'buyAmount') => own.reduce((total, { args }) => total + (args[of] ?? 0n), 0n)
    expect([order.filledIn, order.filledOut].map(BigInt)).toEqual([sum('sellAmount'), sum('buyAmount')])
    expect(order.txHashes.slice(0, own.length)).toEqual(own.map(({ transactionHash }) => transactionHash))
    const filled = await settlement.filledAmount(order.orderUid)
    expect(filled).toBe(order.status === 'cancelled' ? maxUint256 : BigInt(order.filledIn))
    for (const { args } of own)
      expect((args.buyAmount ?? 0n) * BigInt(order.amountIn)).toBeGreaterThanOrEqual(
        (args.sellAmount ?? 0n) * BigInt(order.minAmountOut),
      )
  }
  let [paid, received] = [0n, 0n]
  for (const hash of new Set(trades.map(({ transactionHash }) => transactionHash))) {
    const moved = await s.readPaid(hash)
    paid += moved.paid
    received += moved.received
  }
  expect(trades.length).toBeGreaterThan(0)
  expect(paid).toBe(received)
  expect((await held(s.tokenOut, user.address)) - owned).toBe(paid)
  expect(await held(s.tokenOut, settlement.address)).toBe(kept)
  console.log(`${orders.length} orders, ${trades.length} fills: ${JSON.stringify(Object.fromEntries(statuses))}`)
})
