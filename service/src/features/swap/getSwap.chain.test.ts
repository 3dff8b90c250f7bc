import { feeOnTransferTokenAbi, feeOnTransferTokenBytecode } from '@openearn/contracts'
import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode, listToken } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld, type Wanted } from '../../../test/chain/swapWorld.js'
import { typesOf } from '../../../test/depositWorld.js'
import { refused } from '../../../test/refused.js'
import { seededRandom, times } from '../../../test/seed.js'

const user = account(1)
const ether = 10n ** 18n
const usd = 10n ** 6n

type Opened = SwapWorld<readonly [Wanted, Wanted, Wanted]>
let opened: Opened
let world: Opened['world']
let exchange: Opened['exchange']
let weth: Address
/** Two tokens with pools, and one between them. */
let first: Address
let second: Address
let hub: Address

beforeAll(async () => {
  opened = await openSwapWorld({ pegUsd: '1' }, { decimals: 18 }, { hub: true })
  ;({ world, exchange, weth } = opened)
  ;[first, second, hub] = opened.tokens
  await exchange.v2Pool(first, second, 1_000_000n * usd, 500n * ether)
  await exchange.v3Pool(first, second, 3_000, 900_000n * usd, 455n * ether)
  await exchange.v2Pool(weth, first, 1_000n * ether, 2_000_000n * usd)
  await exchange.v3Pool(weth, second, 500, 1_000n * ether, 1_000n * ether, 6_000)
  await exchange.v3Pool(first, hub, 500, 4_000_000n * usd, 4_000_000n * usd)
  await exchange.v2Pool(weth, hub, 1_000n * ether, 2_000_000n * usd)
  await exchange.v3Pool(hub, second, 3_000, 4_000_000n * usd, 2_000n * ether)
  await world.mint(first, user.address, 1_000_000n * usd)
  await world.mint(second, user.address, 1_000n * ether)
})
afterAll(() => world.close())

const swap = (changes: Record<string, string | number | boolean> = {}) =>
  opened.swap({ tokenIn: first, tokenOut: second, amountIn: String(1_000n * usd), ...changes })

const balanceOf = (token: Address | 'native') =>
  token === 'native' ? world.anvil.client.getBalance({ address: user.address }) : world.balance(token, user.address)

/** Sends a plan; what the wallet got of a token, the gas it paid left out. */
async function gained(answer: Awaited<ReturnType<typeof swap>>, token: Address | 'native'): Promise<bigint> {
  const before = await balanceOf(token)
  const receipts = await world.send(answer, user)
  const paid = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
  return (await balanceOf(token)) - before + (token === 'native' ? paid : 0n)
}

const quotedOut = (answer: Awaited<ReturnType<typeof swap>>) =>
  BigInt(answer.body.transactions.at(-1).metadata.amountOut)

describe('200', () => {
  it('approves exactly, swaps with a minimum and gives to the unit what was quoted and simulated', async () => {
    const answer = await swap()
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(['approve', 'swap'])
    const out = quotedOut(answer)
    const { simulation, transactions } = answer.body
    expect(simulation.status).toBe('ok')
    expect(simulation.assetChanges).toMatchObject([
      { token: { address: first }, amount: String(-1_000n * usd) },
      { token: { address: second }, amount: String(out) },
    ])
    expect(transactions[1].metadata).toMatchObject({
      provider: 'uniswap',
      route: [{ action: 'swap', from: { address: first }, to: { address: second } }],
    })
    expect(transactions[1].description).toContain(user.address)
    const minimum = ((out * 9_950n) / 10_000n).toString(16).padStart(64, '0')
    expect(transactions[1].transaction.data).toContain(minimum)
    expect(await gained(answer, second)).toBe(out)
    // The approval was for exactly this swap.
    expect(typesOf(await swap())).toEqual(['approve', 'swap'])
  })

  it.each([
    ['the native token in', 'native', () => first, ether],
    ['the native token out', () => first, 'native', 500n * usd],
    ['the native token in, through V3', 'native', () => second, ether],
    ['the native token out, through V3', () => second, 'native', ether],
  ] as const)('swaps %s to the unit', async (_title, tokenIn, tokenOut, amountIn) => {
    const named = (token: string | (() => Address)) => (typeof token === 'string' ? token : token())
    const out = named(tokenOut) as Address | 'native'
    const answer = await swap({ tokenIn: named(tokenIn), tokenOut: out, amountIn: String(amountIn) })
    expect(answer.status, answer.text).toBe(200)
    expect(typesOf(answer)).toEqual(tokenIn === 'native' ? ['swap'] : ['approve', 'swap'])
    expect(await gained(answer, out)).toBe(quotedOut(answer))
  })

  it('wraps and unwraps one for one, whatever the slippage', async () => {
    const wrapped = await swap({ tokenIn: 'native', tokenOut: weth, amountIn: String(ether), slippageBps: 5000 })
    expect(wrapped.body.transactions).toMatchObject([
      { metadata: { provider: 'wrapped-native', amountOut: String(ether) } },
    ])
    expect(await gained(wrapped, weth)).toBe(ether)
    const back = await swap({ tokenIn: weth, tokenOut: `0x${'e'.repeat(40)}`, amountIn: String(ether) })
    expect(typesOf(back)).toEqual(['swap'])
    expect(await gained(back, 'native')).toBe(ether)
  })

  it('passes through a hub where that leaves more', async () => {
    const amountIn = String(200_000n * usd)
    const over = await swap({ amountIn, simulate: false })
    const route = over.body.transactions.at(-1).metadata.route
    expect(route.map(({ to }: { to: { address: string } }) => to.address)).toEqual([hub, second])
    await exchange.configure({ hubTokens: [] })
    const direct = await swap({ amountIn, simulate: false })
    await exchange.configure()
    expect(direct.body.transactions.at(-1).metadata.route).toHaveLength(1)
    expect(quotedOut(over)).toBeGreaterThan(quotedOut(direct))
  })

  it('quotes what is mined, for random trades among all tokens', async () => {
    const random = seededRandom()
    const tokens = [first, second, weth, hub, 'native'] as const
    const held: Record<string, bigint> = { [first]: usd, [second]: ether / 1_000n, native: ether / 1_000n }
    for (let trade = 0; trade < 50 * times; trade++) {
      const tokenIn = random.pick([first, second, 'native'] as const)
      const others = tokens.filter((token) => token !== tokenIn && !(tokenIn === 'native' && token === weth))
      const tokenOut = random.pick(others)
      const amountIn = (held[tokenIn] ?? usd) * BigInt(random.int(1, 1_000)) + BigInt(random.int(0, 999))
      const answer = await swap({ tokenIn, tokenOut, amountIn: String(amountIn), slippageBps: 1 })
      expect(answer.status, answer.text).toBe(200)
      expect(await gained(answer, tokenOut), `${amountIn} ${tokenIn} for ${tokenOut}`).toBe(quotedOut(answer))
    }
  }, 600_000)

  it('pays the wallet that gives, whoever else is named as a receiver', async () => {
    const stranger = account(9).address
    const answer = await swap({ receiver: stranger, recipient: stranger, to: stranger, toAddress: stranger })
    expect(answer.status, answer.text).toBe(200)
    const { data } = answer.body.transactions.at(-1).transaction
    expect(data).toContain(user.address.slice(2).toLowerCase())
    expect(answer.text.toLowerCase()).not.toContain(stranger.slice(2).toLowerCase())
  })

  it('asks for no balance and simulates nothing for a quote screen', async () => {
    const amountIn = String(1_000_000_000n * usd)
    refused(await swap({ amountIn }), 'INSUFFICIENT_BALANCE')
    const answer = await swap({ amountIn, simulate: false })
    expect(answer.status).toBe(200)
    expect(answer.body.simulation).toMatchObject({ status: 'skipped', assetChanges: [] })
  })

  it('swaps into a token nobody listed, as it describes itself', async () => {
    const token = await world.token({ decimals: 8 })
    await exchange.v2Pool(first, token, 1_000n * usd, 1_000n * 10n ** 8n)
    await world.earn.db`delete from tokens where address = ${token.toLowerCase()}`
    await world.refresh()
    const answer = await swap({ tokenOut: token, amountIn: String(usd) })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body.simulation.assetChanges[1].token).toMatchObject({ address: token, decimals: 8, symbol: 'TUSD' })
    expect(await gained(answer, token)).toBe(quotedOut(answer))
  })

  it('carries a signed suffix on the swap alone, and is shown with its action by GetAttribution', async () => {
    const answer = await swap({ amountIn: String(10n * usd) })
    const { actionId } = answer.body
    const [approved, swapped] = await world.send(answer, user)
    const look = async (txHash: Hex) =>
      (await world.earn.call('GetAttribution', { params: { txHash }, query: { chainId: world.chainId }, key: null }))
        .body
    expect(await look(swapped?.transactionHash ?? '0x')).toMatchObject({
      ...{ attributed: true, distributorId: world.distributorId, source: 'calldata', interactions: [] },
      action: { actionId, kind: 'swap' },
      calldata: { signature: { present: true, valid: true } },
    })
    expect((await look(approved?.transactionHash ?? '0x')).attributed).toBe(false)
  })

  it('reverts by itself once the price has moved beyond the slippage, and takes nothing', async () => {
    const stale = await swap({ tokenIn: 'native', tokenOut: first, amountIn: String(ether), slippageBps: 10 })
    await world.send(await swap({ tokenIn: 'native', tokenOut: first, amountIn: String(20n * ether) }), user)
    const before = await balanceOf(first)
    await expect(world.send(stale, user)).rejects.toThrow('reverted')
    expect(await balanceOf(first)).toBe(before)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses the same token on both sides, also where the native one has two names', async () => {
    refused(await swap({ tokenOut: first }), undefined)
    refused(await swap({ tokenIn: 'native', tokenOut: `0x${'E'.repeat(40)}` }), undefined)
  })

  it('refuses a slippage of 0 and 5001, an amount of 0 and of 2^256, and a wallet that is none', async () => {
    for (const change of [
      { slippageBps: 0 },
      { slippageBps: 5001 },
      { amountIn: '0' },
      { amountIn: String(2n ** 256n) },
    ])
      refused(await swap(change), undefined)
    refused(await swap({ user: `0x${'0'.repeat(40)}` }), undefined)
  })

  it('refuses a chain it does not know and one without exchanges', async () => {
    refused(await swap({ chainId: 4242 }), undefined)
    await world.earn.db`insert into chains (chain_id, name, slug) values (10, 'Elsewhere', 'elsewhere')`
    await world.refresh()
    refused(await swap({ chainId: 10 }), undefined)
  })

  it('says insufficient token balance before anything is quoted', async () => {
    const quoted: string[] = []
    const watch = world.withNode(
      (request) => (call) => {
        if (call.method === 'eth_call') quoted.push(call.method)
        return request(call)
      },
      () => swap({ amountIn: String(10n ** 30n) }),
    )
    expect(refused(await watch, 'INSUFFICIENT_BALANCE').error).toBe('insufficient token balance')
    expect(quoted).toHaveLength(1)
  })

  it('has no route without a pool, or where the pools cannot take the amount', async () => {
    const alone = await world.token()
    await world.refresh()
    refused(await swap({ tokenOut: alone }), 'NO_ROUTE', true)
    refused(await swap({ amountIn: String(2n ** 256n - 1n), simulate: false }), 'NO_ROUTE', true)
  })

  it('does not take the word of a V3 pool that runs dry on the way', async () => {
    const thin = await world.token()
    await exchange.v3Pool(first, thin, 3_000, 1_000n * usd, 1_000n * usd, 600)
    await world.refresh()
    expect((await swap({ tokenOut: thin, amountIn: String(10n * usd) })).status).toBe(200)
    refused(await swap({ tokenOut: thin, amountIn: String(100_000n * usd) }), 'NO_ROUTE', true)
  })

  it('refuses an amount so small that no minimum can be held', async () => {
    refused(await swap({ tokenIn: second, tokenOut: first, amountIn: '1' }), 'NO_ROUTE', true)
    // One and a half units of the token that is got are rounded down to one, and 99.5 % of that to none.
    const amountIn = String((10n ** 9n * 3n) / 4n)
    refused(await swap({ tokenIn: second, tokenOut: first, amountIn, simulate: false }), 'BELOW_MINIMUM')
  })

  it('refuses an address without a token, and a token that takes a fee on either side', async () => {
    refused(await swap({ tokenOut: account(7).address }), 'TOKEN_UNSUPPORTED')
    const fee = await world.anvil.deploy({
      ...{ abi: feeOnTransferTokenAbi, bytecode: feeOnTransferTokenBytecode },
      args: ['Fee', 'FEE', 6, 100n],
    })
    await listToken(world.earn, { address: fee, decimals: 6, symbol: 'FEE' })
    await world.mint(fee, user.address, 1_000n * usd)
    await exchange.v2Pool(first, fee, 1_000n * usd, 1_000n * usd)
    await world.refresh()
    refused(await swap({ tokenOut: fee, amountIn: String(usd) }), 'TOKEN_UNSUPPORTED')
    refused(await swap({ tokenIn: fee, tokenOut: first, amountIn: String(usd) }), 'TOKEN_UNSUPPORTED')
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('refuses a distributor of another organization', async () => {
    const other = await world.earn.distributor('other', await world.earn.organization())
    expect((await swap({ distributorId: other })).status).toBe(403)
  })
})

describe('404 NOT_FOUND', () => {
  it('does not know the distributor', async () => {
    expect((await swap({ distributorId: 'nobody' })).status).toBe(404)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the node is gone', async () => {
    expect((await world.withNode(goneNode, () => swap())).status).toBe(503)
  })

  it('does not call routers that are not what was set up', async () => {
    await exchange.configure({ v2: first, v3: second })
    const answer = await swap()
    await exchange.configure()
    expect(answer.status, answer.text).toBe(503)
  })
})
