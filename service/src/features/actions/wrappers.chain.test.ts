import {
  depositRouterAbi,
  stakedTokenAbi,
  stakedTokenBytecode,
  staticATokenAbi,
  staticATokenBytecode,
  wrappedStakedTokenAbi,
  wrappedStakedTokenBytecode,
} from '@openearn/contracts'
import { verifyPlan } from '@openearn/sdk/verify'
import { type Abi, type Address, decodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { listToken, type WorldVault } from '../../../test/actionWorld.js'
import { openLendingMarket } from '../../../test/chain/lending.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import type { Answer } from '../../../test/harness.js'
import { rebuildChain } from '../../../test/pipeline.js'
import { refused } from '../../../test/refused.js'
import { systemClock } from '../../kernel/clock.js'

/** Vaults of what wraps stETH and aTokens, entered with these and left for them through the wrapper's own calls. */

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n
/** A balance of shares times a rate may change by so much more or less than an amount that was moved. */
const rounded = 2n

let opened: SwapWorld<readonly [Wanted, Wanted]>
let world: (typeof opened)['world']
let router: Address
/** What is lent, and a token that is none of any wrapper's. */
let asset: Address
let other: Address
let aToken: Address
let staked: Address
let wrapped: Address
let stata: Address
let pool: Address

type Listed = { address: Address; asset: Address; kind?: string }
type Case = {
  name: string
  token: () => Address
  wrapper: () => Address
  kind?: string
  amount: bigint
  /** The router's calls. */
  way: { in: string; out: string }
  rounds: boolean
  over: WorldVault
}
const cases: Case[] = [
  {
    ...{
      name: 'stETH and wstETH',
      token: () => staked,
      wrapper: () => wrapped,
      kind: 'wsteth',
      amount: 3n * ether + 7n,
    },
    way: { in: 'wrapWithMinimum', out: 'unwrapWithMinimum' },
    ...{ rounds: true, over: undefined as never },
  },
  {
    ...{ name: 'an aToken and its static one', token: () => aToken, wrapper: () => stata, amount: 100n * usd + 7n },
    kind: 'static-a-token',
    way: { in: 'depositATokensWithMinimum', out: 'redeemATokensWithMinimum' },
    ...{ rounds: true, over: undefined as never },
  },
  {
    ...{
      name: 'what is lent and the static aToken',
      token: () => asset,
      wrapper: () => stata,
      amount: 100n * usd + 7n,
    },
    way: { in: 'depositWithMinimum', out: 'redeemWithMinimum' },
    ...{ rounds: false, over: undefined as never },
  },
]

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 })
  ;({ world } = opened)
  ;[asset, other] = opened.tokens
  router = await world.depositRouter()
  const deploy = (abi: Abi, bytecode: Hex, args: readonly unknown[]) => world.anvil.deploy({ abi, bytecode, args })
  staked = await deploy(stakedTokenAbi, stakedTokenBytecode, [])
  wrapped = await deploy(wrappedStakedTokenAbi, wrappedStakedTokenBytecode, [staked])
  const market = await openLendingMarket(world, [{ address: asset, symbol: 'TUSD', decimals: 6, priceUsd: '1' }])
  pool = market.pool
  aToken = market.reserves[0]!.aToken
  stata = await deploy(staticATokenAbi, staticATokenBytecode, [pool, asset, aToken])
  for (const [address, decimals, symbol] of [
    [staked, 18, 'stETH'],
    [wrapped, 18, 'wstETH'],
    [aToken, 6, 'aTUSD'],
    [stata, 6, 'stataTUSD'],
  ] as const)
    await listToken(world.earn, { address, decimals, symbol })

  await world.join(user.address)
  for (const holder of [world.owner, user]) {
    await submit(1_000n * ether, holder)
    await world.mint(asset, holder.address, 20_000n * usd)
    await market.supply(asset, 10_000n * usd, holder)
  }
  // Debt makes the rate of the market grow, and a report that of the staked token.
  await market.borrow(asset, 4_000n * usd, user)
  await world.anvil.client.increaseTime({ seconds: 30 * 86_400 })
  await world.write(staked, stakedTokenAbi, 'report', [2_137n * ether + 11n])
  // What others have in the static token pays for what it rounds.
  await world.write(aToken, erc20Abi, 'transfer', [stata, usd])
  for (const each of cases)
    each.over = await zapVault(await world.vault(each.wrapper(), { name: `over ${each.name}`, old: true }))
  await useWrappers(listed())
})
afterAll(() => world.close())

async function submit(value: bigint, as = user): Promise<void> {
  const { client, done } = world.anvil
  await done(
    client.writeContract({
      ...{ address: staked, abi: stakedTokenAbi, functionName: 'submit', args: [zeroAddress], value },
      ...{ account: as, chain: null },
    }),
  )
}

async function zapVault(made: WorldVault): Promise<WorldVault> {
  await world.earn.db`update opportunities set routed_swap_enabled = true where id = ${made.opportunityId}`
  await world.refresh()
  return made
}

const listed = (): Listed[] =>
  cases.map(({ wrapper, token, kind }) => ({
    address: wrapper().toLowerCase() as Address,
    asset: token().toLowerCase() as Address,
    ...(kind ? { kind } : {}),
  }))

async function useWrappers(list: readonly Listed[]): Promise<void> {
  await world.earn.db`
    update chains set swap = swap || ${JSON.stringify({ wrappers: list })}::text::jsonb where chain_id = ${world.chainId}`
  await world.refresh()
}

type Body = Record<string, string | number | boolean>
const deposit = ({ over, token, amount }: Case, changes: Body = {}) =>
  world.earn.call('CreateDepositInteraction', {
    params: { opportunityId: over.opportunityId },
    body: {
      ...{ userAddress: user.address, tokenIn: token(), amount: String(amount), mode: 'swap', slippageBps: 30 },
      ...{ distributorId: world.distributorId, ...changes },
    },
  })
const withdraw = ({ over, token }: Case, changes: Body = {}) =>
  world.earn.call('CreateWithdrawInteraction', {
    params: { opportunityId: over.opportunityId },
    body: {
      ...{ userAddress: user.address, tokenOut: token(), slippageBps: 30, distributorId: world.distributorId },
      ...changes,
    } as Body,
  })

const swapOf = (answer: Answer) => answer.body.transactions.find(({ type }: { type: string }) => type === 'swap')
const callOf = (answer: Answer) => {
  const { transaction } = swapOf(answer)
  expect(transaction.to.toLowerCase()).toBe(router.toLowerCase())
  return decodeFunctionData({ abi: depositRouterAbi, data: transaction.data })
}
const quotedOut = (answer: Answer) => BigInt(swapOf(answer).metadata.amountOut)
const minimumOf = (amountOut: bigint) => (amountOut * 9_970n) / 10_000n
const read = (address: Address, abi: Abi, functionName: string, args: readonly unknown[]) =>
  world.anvil.client.readContract({ address, abi, functionName, args }) as Promise<bigint>

async function entriesOf(transactionHash: string) {
  await world.sync()
  return world.earn.db`
    select kind, distributor_id as "distributorId", attribution, assets, is_swap as "isSwap" from interactions
    where transaction_hash = ${transactionHash} order by log_index`
}

/** The router keeps no share of anything, and no approval. */
async function expectNothingLeft(): Promise<void> {
  expect(await read(staked, stakedTokenAbi, 'sharesOf', [router])).toBe(0n)
  for (const token of [asset, aToken, wrapped, stata]) expect(await world.balance(token, router)).toBe(0n)
  for (const [token, wrapper] of [
    [staked, wrapped],
    [aToken, stata],
    [asset, stata],
  ] as const) {
    expect(await read(token, erc20Abi, 'allowance', [router, wrapper])).toBe(0n)
    for (const of of [token, wrapper]) expect(await read(of, erc20Abi, 'allowance', [user.address, router])).toBe(0n)
  }
}

const expectNear = (found: bigint, wanted: bigint, off: bigint) => {
  expect(found).toBeGreaterThanOrEqual(wanted - off)
  expect(found).toBeLessThanOrEqual(wanted + off)
}

describe.each(cases)('a vault of what wraps: $name', (each) => {
  it('is entered by the own deposit of the wrapper at its rate, with the minimum held on chain, and nothing is left behind', async () => {
    const { over, amount, way } = each
    const [token, wrapper] = [each.token(), each.wrapper()]
    const answer = await deposit(each)
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap', 'approve', 'deposit'])
    expect(answer.body.simulation.status).toBe('ok')
    const enters = minimumOf(quotedOut(answer))
    const { functionName, args } = callOf(answer)
    expect(functionName).toBe(way.in)
    expect(args).toEqual([
      ...(way.in === 'depositWithMinimum' ? [wrapper] : [wrapper, token]),
      ...[amount, user.address, enters],
    ])
    expect(swapOf(answer).metadata).toMatchObject({ provider: 'wrapper', route: [{ action: 'wrap' }] })

    const held = await world.balance(token, user.address)
    const rest = await world.balance(wrapper, user.address)
    const shares = await world.balance(over.address, user.address)
    const receipts = await world.send(answer, user)
    expect(await world.balance(over.address, user.address)).toBeGreaterThan(shares)
    // An aToken grows while blocks are made.
    const grows = way.in === 'depositATokensWithMinimum' ? amount / 1_000n : 0n
    expectNear(held - (await world.balance(token, user.address)), amount, each.rounds ? rounded + grows : 0n)
    const more = (await world.balance(wrapper, user.address)) - rest
    expect(more > 0n && more <= quotedOut(answer) - enters).toBe(true)
    expect(await entriesOf(receipts.at(-1)!.transactionHash)).toEqual([
      { kind: 'deposit', distributorId: 'acme', attribution: 'signed', assets: String(enters), isSwap: true },
    ])
    await expectNothingLeft()
  })

  it('is left by the own way out of the wrapper, with the minimum held on chain', async () => {
    const { over, way } = each
    const shares = (await world.balance(over.address, user.address)) / 2n
    const answer = await withdraw(each, { amount: String(shares) })
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['withdraw', 'approve', 'swap'])
    const { functionName, args } = callOf(answer)
    expect(functionName).toBe(way.out)
    const [wrapper, token, amount, receiver, minimum] = args as [Address, Address, bigint, Address, bigint]
    expect([wrapper, token, receiver]).toEqual([each.wrapper(), each.token(), user.address])
    expect(minimum).toBe(minimumOf(quotedOut(answer)))
    expect(swapOf(answer).metadata).toMatchObject({ provider: 'wrapper', route: [{ action: 'unwrap' }] })
    const held = await world.balance(each.token(), user.address)
    const wraps = await world.balance(each.wrapper(), user.address)
    const receipts = await world.send(answer, user)
    const gained = (await world.balance(each.token(), user.address)) - held
    expect(gained).toBeGreaterThanOrEqual(minimum)
    // A block later it is worth a little more.
    expect(gained).toBeLessThanOrEqual(quotedOut(answer) + quotedOut(answer) / 1_000n + rounded)
    // What is redeemed beyond what is sure stays as the vault paid it.
    expect(await world.balance(each.wrapper(), user.address)).toBeGreaterThanOrEqual(wraps)
    expect(amount).toBeGreaterThan(0n)
    expect(await entriesOf(receipts[0]!.transactionHash)).toMatchObject([
      { kind: 'withdraw', distributorId: 'acme', attribution: 'signed', isSwap: true },
    ])
    await expectNothingLeft()
  })

  it('is a swap of its own both ways, which verifyPlan takes for these wrappers alone', async () => {
    const { amount } = each
    const query = { tokenIn: each.token(), tokenOut: each.wrapper(), amountIn: String(amount) }
    const answer = await opened.swap(query)
    expect(answer.status, answer.text).toBe(200)
    expect(callOf(answer).functionName).toBe(each.way.in)
    const back = await opened.swap({ tokenIn: query.tokenOut, tokenOut: query.tokenIn, amountIn: '1000' })
    expect(back.status, back.text).toBe(200)
    expect(callOf(back).functionName).toBe(each.way.out)

    const { request, transactions, context } = world.plans.filter(({ request: { type } }) => type === 'deposit').at(-1)!
    const verify = (wrappers: Listed[]) =>
      verifyPlan(request, transactions, { ...context, swap: { ...context.swap!, wrappers } })
    const right = listed().find(({ asset: of }) => of === each.token().toLowerCase())!
    expect((await verify([right])).ok).toBe(true)
    const others = ['wsteth', 'static-a-token', 'erc4626'].filter((kind) => kind !== (each.kind ?? 'erc4626'))
    for (const list of [
      [],
      [{ ...right, asset: other }],
      [{ ...right, address: other }],
      ...others.map((kind) => [{ ...right, kind }]),
    ])
      expect((await verify(list)).ok, JSON.stringify(list)).toBe(false)
    expect((await verify([right, right])).problems.join()).toContain('twice')
  })
})

describe('what can go wrong with a wrapper', () => {
  const [stETH, lent] = cases as [Case, Case, Case]

  it('does nothing where the staked token lost more than the minimum allows, and says why at plan time', async () => {
    const answer = await deposit(stETH)
    const [approve, swap] = answer.body.transactions
    expect(approve.type).toBe('approve')
    const pooled = await read(staked, stakedTokenAbi, 'totalSupply', [])
    await world.write(staked, erc20Abi, 'approve', [router, stETH.amount], user)
    // A share that costs more buys fewer.
    await world.write(staked, stakedTokenAbi, 'report', [(pooled * 101n) / 100n])
    const { to, data } = swap.transaction
    await expect(world.anvil.client.call({ account: user.address, to, data })).rejects.toThrow(/SharesBelow|0x/)
    await world.write(staked, erc20Abi, 'approve', [router, 0n], user)
    const back = await opened.swap({ tokenIn: wrapped, tokenOut: staked, amountIn: '100000', slippageBps: 1 })
    expect(back.status, back.text).toBe(200)
    await world.write(staked, stakedTokenAbi, 'report', [pooled])
  })

  it('names the reason where the wrapper is paused, and no selector', async () => {
    await world.write(stata, staticATokenAbi, 'setPaused', [true])
    const answer = await opened.swap({ tokenIn: aToken, tokenOut: stata, amountIn: String(lent.amount) })
    refused(answer, 'SIMULATION_REVERTED')
    expect(answer.body.error).toContain('EnforcedPause()')
    await world.write(stata, staticATokenAbi, 'setPaused', [false])
  })

  it('has no route where the wrapper wraps another token than was set up, is of another kind, or is no contract', async () => {
    const right = listed()
    for (const change of [
      right.map((one) => ({ ...one, kind: one.kind === 'wsteth' ? 'static-a-token' : 'wsteth' })),
      right.map((one) => ({ ...one, address: account(7).address.toLowerCase() as Address })),
      [],
    ]) {
      await useWrappers(change)
      for (const each of [stETH, lent]) refused(await deposit(each), 'NO_ROUTE', true)
    }
    await useWrappers(right.map((one) => ({ ...one, asset: other.toLowerCase() as Address })))
    await world.mint(other, user.address, 10n * ether)
    refused(await deposit(stETH, { tokenIn: other }), 'NO_ROUTE', true)
    await useWrappers(right)
  })

  it('refuses amounts that give nothing, and more than the wallet has', async () => {
    refused(await deposit(stETH, { amount: '1' }), 'NO_ROUTE', true)
    refused(await deposit(stETH, { amount: '2' }), 'BELOW_MINIMUM')
    const held = await world.balance(staked, user.address)
    refused(await deposit(stETH, { amount: String(held + 10n) }), 'INSUFFICIENT_BALANCE')
  })
})

it('says the same of every entry after a rebuild', async () => {
  await world.sync()
  const readAll = () => world.earn.db`select id, assets, is_swap from interactions order by id`
  const before = await readAll()
  expect(before.length).toBeGreaterThanOrEqual(6)
  await rebuildChain({ db: world.earn.db, clock: systemClock }, { chainId: world.chainId })
  expect(await readAll()).toEqual(before)
})
