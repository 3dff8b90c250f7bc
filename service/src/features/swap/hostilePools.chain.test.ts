import type { Address } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { refused } from '../../../test/refused.js'
import { seededRandom, times } from '../../../test/seed.js'
import { RpcError } from '../../rpc/rpc.js'

const user = account(1)
const ether = 10n ** 18n
const much = 10n ** 40n

type Opened = SwapWorld<readonly [Wanted]>
let opened: Opened
let world: Opened['world']
let exchange: Opened['exchange']
let weth: Address
let token: Address

beforeAll(async () => {
  opened = await openSwapWorld({ decimals: 18 })
  ;({ world, exchange, weth } = opened)
  ;[token] = opened.tokens
  await exchange.v2Pool(weth, token, 100n * ether, 100n * ether)
  await world.mint(token, user.address, much)
})
afterAll(() => world.close())

const swap = (changes: Record<string, string | number>) =>
  opened.swap({ tokenIn: token, tokenOut: weth, amountIn: String(ether), ...changes })

it('quotes pools at prices of 2^120 and 2^-120, and of one unit, to the unit or not at all', async () => {
  const held = world.balance
  const pools = [
    async (other: Address) => exchange.v3Pool(token, other, 3_000, 1n, 2n ** 120n),
    async (other: Address) => exchange.v3Pool(token, other, 3_000, 2n ** 120n, 1n),
    async (other: Address) => exchange.v2Pool(token, other, 1n, 10n ** 9n),
    async (other: Address) => exchange.v2Pool(token, other, 10n ** 9n, 1n),
  ]
  let quoted = 0
  for (const make of pools) {
    const other = await world.token({ decimals: 18 })
    await make(other)
    await world.refresh()
    await world.mint(other, user.address, much)
    for (const [tokenIn, tokenOut] of [
      [token, other],
      [other, token],
    ] as const)
      for (const amountIn of ['1', '1000000', String(ether), String(2n ** 119n)]) {
        const answer = await swap({ tokenIn, tokenOut, amountIn })
        if (answer.status !== 200) {
          expect(answer.status, answer.text).toBe(400)
          expect(['NO_ROUTE', 'BELOW_MINIMUM']).toContain(answer.body.reason)
          continue
        }
        quoted += 1
        const before = await held(tokenOut, user.address)
        await world.send(answer, user)
        const got = (await held(tokenOut, user.address)) - before
        expect(String(got)).toBe(answer.body.transactions.at(-1).metadata.amountOut)
      }
  }
  expect(quoted).toBeGreaterThan(5)
}, 120_000)

it('never gives less than the minimum of a plan whose price moved before it was sent', async () => {
  const random = seededRandom()
  let executed = 0
  let reverted = 0
  for (let turn = 0; turn < 12 * times; turn++) {
    const amountIn = String(BigInt(random.int(1, 500)) * (ether / 1_000n))
    const slippageBps = random.int(1, 300)
    const plan = await swap({ tokenIn: 'native', tokenOut: token, amountIn, slippageBps })
    const [step] = plan.body.transactions
    const minimum = (BigInt(step.metadata.amountOut) * BigInt(10_000 - slippageBps)) / 10_000n
    const moved = String(BigInt(random.int(1, 3_000)) * (ether / 1_000n))
    const [tokenIn, tokenOut] = random.chance(0.5) ? [weth, token] : [token, 'native']
    await world.send(
      await swap({ tokenIn: tokenIn === weth ? 'native' : tokenIn, tokenOut, amountIn: moved, slippageBps: 5000 }),
      user,
    )
    const before = await world.balance(token, user.address)
    const sent = await world.send(plan, user).then(
      () => true,
      (error: Error) => {
        expect(error.message).toContain('reverted')
        return false
      },
    )
    const got = (await world.balance(token, user.address)) - before
    if (sent) expect(got).toBeGreaterThanOrEqual(minimum)
    else expect(got).toBe(0n)
    if (sent) executed += 1
    else reverted += 1
  }
  expect(executed).toBeGreaterThan(0)
  expect(reverted).toBeGreaterThan(0)
}, 300_000)

it('refuses a token that cannot be moved, on either side', async () => {
  const stuck = await world.token({ decimals: 18 })
  await exchange.v2Pool(token, stuck, ether, ether)
  await world.mint(stuck, user.address, ether)
  await world.refresh()
  await world.breakCall(stuck, '0x23b872dd', '0x')
  refused(await swap({ tokenIn: stuck, tokenOut: token, amountIn: '1000000' }), 'TOKEN_UNSUPPORTED')
  await world.breakCall(stuck, '0xa9059cbb', '0x')
  refused(await swap({ tokenIn: token, tokenOut: stuck, amountIn: '1000000' }), 'TOKEN_UNSUPPORTED')
})

it('builds in three round trips, and quotes every route in one request', async () => {
  const chain = world.earn.ctx.chains.get(world.chainId)
  if (!chain) throw new Error('the world has a chain')
  const { request } = chain.rpc
  const methods: string[] = []
  chain.rpc.request = (asked) => {
    methods.push(asked.method)
    return request(asked)
  }
  const answer = await swap({})
  chain.rpc.request = request
  expect(answer.status, answer.text).toBe(200)
  // The first three are under way together; then the quotes, then the simulation.
  expect(methods.sort()).toEqual(['eth_call', 'eth_call', 'eth_call', 'eth_gasPrice', 'eth_getBlockByNumber'])
})

it('says unavailable where a node can simulate nothing, and the plan holds all the same', async () => {
  const answer = await world.withNode(
    (request) => async (asked) => {
      const overrides = asked.method === 'eth_call' && (asked.params as unknown[]).length > 2
      if (overrides || asked.method === 'eth_simulateV1') throw new RpcError(-32601, 'not here', undefined)
      return request(asked)
    },
    () => swap({}),
  )
  expect(answer.body.simulation).toMatchObject({ status: 'unavailable', assetChanges: [] })
  const before = await world.balance(weth, user.address)
  await world.send(answer, user)
  const got = (await world.balance(weth, user.address)) - before
  expect(String(got)).toBe(answer.body.transactions.at(-1).metadata.amountOut)
})
