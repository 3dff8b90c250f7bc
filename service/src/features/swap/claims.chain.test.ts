import { type Address, erc20Abi, erc4626Abi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import type { WorldVault } from '../../../test/actionWorld.js'
import { type Loose, openSwapApis } from '../../../test/chain/swapApis.js'
import { openSwapWorldWith, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import type { Answer } from '../../../test/harness.js'
import { createOutbound } from '../../kernel/outbound.js'
import { readHead } from '../../rpc/blocks.js'
import { readGasPrice } from '../../rpc/estimate.js'
import { openSwapApis as openClients } from '../../server/swapApis.js'
import { findToken } from '../catalogue/index.js'
import { getSwapChain } from './providers.js'
import { quoteSwap } from './quoteSwap.js'

const user = account(1)
const usd = 10n ** 6n
const ether = 10n ** 18n
const amount = 1_000n * usd
const names = ['enso', 'lifi'] as const
type Name = (typeof names)[number]

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: typeof opened.world
let apis: Awaited<ReturnType<typeof openSwapApis>>
let vault: WorldVault
/** A vault that pays what is swapped, and what the wallet has of it. */
let payer: WorldVault
let shares: bigint
let given: Address
let got: Address

beforeAll(async () => {
  opened = await openSwapWorldWith({ verifyPlans: false }, { pegUsd: '1' }, { decimals: 18 })
  ;({ world } = opened)
  ;[given, got] = opened.tokens
  await opened.exchange.v2Pool(given, got, 1_000_000n * usd, 500n * ether)
  await opened.exchange.v2Pool(opened.weth, given, 100n * ether, 200_000n * usd)
  apis = await openSwapApis(world, opened.weth)
  await apis.pool(given, got, 1_000_000n * usd, 600n * ether)
  const [enso, lifi] = names.map((name) => ({ url: apis.url, key: `key of ${name}` }))
  const io = { outbound: createOutbound(world.earn.clock), clock: world.earn.clock }
  Object.assign(world.earn.ctx.swapApis, openClients({ swapApis: { enso: enso!, lifi: lifi! } }, io))
  await world.mint(given, user.address, 1_000_000n * usd)
  await world.mint(got, user.address, 1_000n * ether)
  await world.join(user.address)
  vault = await world.vault(got)
  payer = await world.vault(given)
  await world.write(given, erc20Abi, 'approve', [payer.address, amount], user)
  await world.write(payer.address, erc4626Abi, 'deposit', [amount, user.address], user)
  shares = await world.balance(payer.address, user.address)
  await world.earn.db`
    update opportunities set routed_swap_enabled = true where id in (${vault.opportunityId}, ${payer.opportunityId})`
  await opened.exchange.configure()
  const routers = Object.fromEntries(names.map((name) => [name, { router: apis[name].toLowerCase() }]))
  await world.earn.db`update chains set swap = swap || ${JSON.stringify(routers)}::text::jsonb`
  await world.refresh()
})
afterAll(async () => {
  await apis?.stop()
  await world.close()
})
afterEach(() => {
  apis.state.fault = undefined
})

const word = (value: bigint) => value.toString(16).padStart(64, '0')

/** Its claim, and how much of what it takes it really swaps, in basis points. The rest stays in its router. */
type Lie = { claim: bigint; swapsBps: bigint; amount?: bigint }

/** The truth with another claim, and a route that swaps only a part of what is taken. */
function lieAbout(name: Name, truth: Loose, { claim, swapsBps, amount: taken = amount }: Lie): Loose {
  const changed = structuredClone(truth)
  const call = name === 'enso' ? changed.tx : changed.transactionRequest
  // The last time the amount stands in its call it is what the exchange below the router is told to swap.
  const last = call.data.lastIndexOf(word(taken))
  call.data = call.data.slice(0, last) + word((taken * swapsBps) / 10_000n) + call.data.slice(last + 64)
  if (name === 'enso') changed.amountOut = String(claim)
  else changed.estimate.toAmount = String(claim)
  return changed
}

/** What each service says; one that is not named answers that it has no route. */
function tell(lies: Partial<Record<Name, Lie>>): void {
  apis.state.fault = (name, truth) => {
    const lie = lies[name]
    return lie ? { changed: lieAbout(name, truth, lie) } : { status: name === 'enso' ? 400 : 404 }
  }
}

const swap = (changes: Record<string, string | number | boolean> = {}) =>
  opened.swap({ tokenIn: given, tokenOut: got, amountIn: String(amount), slippageBps: 500, ...changes })
const routed = (answer: Answer) => answer.body.transactions.find(({ metadata }: { metadata?: object }) => metadata)
const providerOf = (answer: Answer) => routed(answer)?.metadata.provider ?? answer.text
const gotOf = (answer: Answer) =>
  BigInt(answer.body.simulation.assetChanges.find(({ token }: Loose) => token.address === got).amount)

/** What the exchange of the chain gives. */
async function quoteExchange(amountIn = amount): Promise<bigint> {
  const answer = await swap({ simulate: false, amountIn: String(amountIn) })
  expect(providerOf(answer)).toBe('uniswap')
  return BigInt(routed(answer).metadata.amountOut)
}

const permille = (value: bigint, of: bigint) => (value * of) / 1_000n

describe.each(names)('%s', (name) => {
  it.each([
    ['1 % more and gives 4 % less', 1_010n, 8_000n],
    ['0.5 % more and gives 3.8 % less', 1_005n, 8_020n],
    ['a unit more, which does not pay for its gas', 1_000n, 8_020n],
    ['10 % more and gives less than its minimum', 1_100n, 8_020n],
  ])('is refused for the exchange asked beside it where it claims %s', async (_case, claimed, swapsBps) => {
    const own = await quoteExchange()
    tell({ [name]: { claim: permille(own, claimed) + 1n, swapsBps } })
    const answer = await swap()
    expect([answer.status, providerOf(answer)]).toEqual([200, 'uniswap'])
    expect(gotOf(answer)).toBe(own)
  })

  it('is refused in a deposit by another token where it claims more and gives less than the exchange', async () => {
    tell({ [name]: { claim: permille(await quoteExchange(), 1_010n), swapsBps: 8_020n } })
    const answer = await world.earn.call('CreateDepositInteraction', {
      params: { opportunityId: vault.opportunityId },
      body: {
        ...{ userAddress: user.address, tokenIn: given, amount: String(amount), mode: 'swap', slippageBps: 500 },
        distributorId: world.distributorId,
      },
    })
    expect([answer.status, providerOf(answer)]).toEqual([200, 'uniswap'])
  })

  it('is refused in a withdrawal in another token where it gives less than the exchange, and used where it gives more', async () => {
    // All but one part in ten thousand of what the vault pays is swapped.
    const redeemed = (amount * 9_999n) / 10_000n
    const own = await quoteExchange(redeemed)
    const withdraw = () =>
      world.earn.call('CreateWithdrawInteraction', {
        params: { opportunityId: payer.opportunityId },
        body: {
          ...{ userAddress: user.address, tokenOut: got, amount: String(shares), slippageBps: 500 },
          distributorId: world.distributorId,
        },
      })
    tell({ [name]: { claim: permille(own, 1_010n), swapsBps: 8_020n, amount: redeemed } })
    const refused = await withdraw()
    expect([refused.status, providerOf(refused)]).toEqual([200, 'uniswap'])
    tell({ [name]: { claim: permille(own, 1_100n), swapsBps: 9_000n, amount: redeemed } })
    const used = await withdraw()
    expect([used.status, providerOf(used)]).toEqual([200, name])
  })

  it('is used where it was seen to give more than the exchange, though less than it claims', async () => {
    const own = await quoteExchange()
    tell({ [name]: { claim: permille(own, 1_100n), swapsBps: 9_000n } })
    const answer = await swap()
    expect([answer.status, providerOf(answer)]).toEqual([200, name])
    expect(gotOf(answer) > own && gotOf(answer) < permille(own, 1_100n)).toBe(true)
  })
})

it.each([
  ['enso', 'lifi'],
  ['lifi', 'enso'],
] as const)(
  'of two services the one that was seen to give more is used: %s claims more than %s',
  async (loud, honest) => {
    const own = await quoteExchange()
    tell({
      [loud]: { claim: permille(own, 1_180n), swapsBps: 9_700n },
      [honest]: { claim: permille(own, 1_175n), swapsBps: 10_000n },
    })
    const answer = await swap()
    expect([answer.status, providerOf(answer)]).toEqual([200, honest])
  },
)

/** What an order is quoted. */
async function quoteOrder() {
  const { ctx } = world.earn
  const { chain, settings, providers } = getSwapChain(ctx, world.chainId)
  const find = (address: Address) => findToken(ctx.catalogue.current(), world.chainId, address.toLowerCase())!
  const head = await readHead(chain)
  const ask = {
    ...{ chain, settings, tokenIn: find(given), tokenOut: find(got), amountIn: amount, hubs: [] },
    ...{ at: { blockHash: head.hash }, gasPrice: await readGasPrice(chain), wallet: user.address },
    ...{ slippageBps: 500n, simulates: true },
  }
  return quoteSwap(providers, ask, { head, allowanceOf: () => 0n })
}

it('an order is quoted what a service was seen to give, not what it claims', async () => {
  const own = await quoteExchange()
  tell({ enso: { claim: permille(own, 1_200n), swapsBps: 9_800n } })
  const { provider, amountOut } = await quoteOrder()
  const seen = gotOf(await swap())
  expect({ provider, amountOut }).toEqual({ provider: 'enso', amountOut: seen })
  tell({ enso: { claim: permille(own, 1_010n), swapsBps: 8_020n } })
  expect(await quoteOrder()).toMatchObject({ provider: 'uniswap', amountOut: own })
})
