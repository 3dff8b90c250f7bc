import { testTokenAbi, testTokenBytecode } from '@openearn/contracts'
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  formatUnits,
  type Hex,
  http,
  maxUint256,
  numberToHex,
  parseAbi,
  parseEther,
  parseUnits,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { systemClock, toUnixSeconds } from '../kernel/clock.js'
import { settlementAbi } from '../rpc/abis.js'
import { createCaller, type Dev, type Json } from './dev/caller.js'
import { waitForReceipt } from './dev/receipt.js'
import { answer, print, UsageError } from './terminal.js'

const routerAbi = parseAbi([
  'function addLiquidity(address tokenA, address tokenB, uint256 amountA, uint256 amountB, uint256 minimumA, uint256 minimumB, address to, uint256 deadline)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 minimumOut, address[] path, address to, uint256 deadline)',
])
const farAway = 10_000_000_000n
/** Units on each side of the demo's own pool. */
const poolUnits = '2000'
/** Amount of orders that are filled in parts: a tenth of the pool. */
const largeUnits = '200'
/** Sold at the pool by another: then it gives an order's limit for a half of it, and not for the whole. */
const moveUnits = '40'
const slippageBps = 50

/** Plays what becomes of signed orders: one filled, one filled in parts, one cancelled after a part, and one that expires. */
export async function playOrders(dev: Dev): Promise<void> {
  const market = await openMarket(dev)
  const { chain, call, wallet, request, mined, worsenPrice, improvePrice, units, dollars } = market
  const { distributorId } = market
  const { build, submit, waitFor, check, assertNoAllowance, paid } = await openOrders(market)

  print('2. An order is signed once, and filled by the solver.')
  const first = await build('20')
  await submit(first)
  const filled = await waitFor(first, 'filled')
  await check(first, filled, units('20'))
  await assertNoAllowance()
  const [hash] = filled.txHashes
  const judged = await call('GET', `/v2/attribution/${hash}?chainId=${foundry.id}`, undefined, false)
  if (judged.calldata?.signature?.valid !== true || judged.distributorId !== distributorId)
    throw new Error(`the debugger does not confirm ${hash}: ${JSON.stringify(judged)}`)
  print(`   checked: the attribution debugger says that ${judged.distributorId} brought it, signed for this order`)

  print('3. An order that may be filled in parts: another sells first, and the pool gives the limit for a half only.')
  const second = await build(largeUnits, { partiallyFillable: true })
  await worsenPrice(moveUnits)
  await submit(second)
  const part = await waitFor(second, 'partially-filled')
  print(`   ${part.status}: ${dollars(part.filledIn)} of ${dollars(part.amountIn)}; then another buys at the pool`)
  await improvePrice()
  const whole = await waitFor(second, 'filled')
  if (whole.txHashes.length < 2) throw new Error('the order was not filled in parts')
  await check(second, whole, units(largeUnits))
  await assertNoAllowance()

  print('4. Another such order is cancelled by its owner after a part, with the transaction that came with it.')
  const third = await build(largeUnits, { partiallyFillable: true })
  await worsenPrice(moveUnits)
  await submit(third)
  const taken = await waitFor(third, 'partially-filled')
  await mined(await wallet.sendTransaction({ to: third.cancellation.to, data: third.cancellation.data }))
  await improvePrice()
  const cancelled = await waitFor(third, 'cancelled')
  if (cancelled.filledIn !== taken.filledIn) throw new Error('a cancelled order was filled further')
  await check(third, cancelled, maxUint256)

  print('5. An order for which nobody pays enough expires; the time of the chain is moved to its end.')
  const fourth = await build('20', { validForSeconds: 60 })
  await worsenPrice(largeUnits)
  await submit(fourth)
  const end = toUnixSeconds(new Date(fourth.expiresAt)) + 1
  const { timestamp } = await chain.getBlock()
  if (timestamp < end) await request('evm_mine', [numberToHex(end)])
  const expired = await waitFor(fourth, 'expired')
  await check(fourth, expired, 0n)

  const ids = [first, second, third, fourth].map(({ orderId }) => orderId)
  answer({ wallet: wallet.account.address, orders: ids, sold: String(paid.usd), bought: String(paid.demo) }, [
    `Filled, filled in parts, cancelled and expired: ${dollars(paid.usd)} sold for ${market.coins(paid.demo)}. \`openearn orders list\` shows them.`,
  ])
}

type Market = Awaited<ReturnType<typeof openMarket>>

/** A fresh wallet with tokens to sell, and a pool of its own whose price another moves. */
async function openMarket(dev: Dev) {
  const call = createCaller(dev, dev.keys.publishable)
  const transport = http(dev.rpcUrl)
  const chain = createPublicClient({ chain: foundry, transport, cacheTime: 0, pollingInterval: 50 })
  const { USDC: usd, 'uniswap-v2-router': router, 'cow-settlement': settlement } = dev.contracts
  const [distributorId] = dev.distributorIds
  const [funder] = dev.accounts
  if (!distributorId || !funder) throw new UsageError('dev.json names no distributor or account')
  if (!usd || !router || !settlement)
    throw new UsageError(
      'this devnet has no swap orders: it was made by an earlier version, or without the packages; start it with --reset',
    )
  const openWallet = (key: Hex) => createWalletClient({ chain: foundry, transport, account: privateKeyToAccount(key) })
  const mined = (hash: Hex) => waitForReceipt(chain, hash)
  const request = (method: string, params: readonly unknown[] = []) => chain.request({ method, params } as never)
  const balanceOf = (address: Hex, owner: Hex) =>
    chain.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })

  const trader = openWallet(funder.privateKey)
  const wallet = openWallet(generatePrivateKey())
  const owner = wallet.account.address
  print(
    `1. A fresh wallet ${owner} with 1,000 USDC, and a pool of its own, so that what is shown depends on nobody else.`,
  )
  const decimals = await chain.readContract({ address: usd, abi: erc20Abi, functionName: 'decimals' })
  const [units, demoUnits] = [(text: string) => parseUnits(text, decimals), (text: string) => parseUnits(text, 18)]
  const made = await mined(
    await trader.deployContract({ abi: testTokenAbi, bytecode: testTokenBytecode, args: ['Demo Coin', 'DEMO', 18] }),
  )
  const demo = made.contractAddress
  if (!demo) throw new Error('a deployment gave no contract')
  await mined(await trader.sendTransaction({ to: owner, value: parseEther('1') }))
  const write = async (address: Hex, functionName: 'mint' | 'transfer' | 'approve', to: Hex, amount: bigint) =>
    mined(await trader.writeContract({ address, abi: testTokenAbi, functionName, args: [to, amount] }))
  await write(usd, 'transfer', owner, units('1000'))
  await write(demo, 'mint', trader.account.address, demoUnits(poolUnits))
  for (const token of [usd, demo]) await write(token, 'approve', router, maxUint256)
  const sides = [usd, demo, units(poolUnits), demoUnits(poolUnits), 0n, 0n] as const
  const to = trader.account.address
  const pool = { address: router, abi: routerAbi, functionName: 'addLiquidity' } as const
  await mined(await trader.writeContract({ ...pool, args: [...sides, to, farAway] }))
  const trade = async (sold: Hex, bought: Hex, amount: bigint) => {
    const args = [amount, 0n, [sold, bought], to, farAway] as const
    const swap = { address: router, abi: routerAbi, functionName: 'swapExactTokensForTokens', args } as const
    await mined(await trader.writeContract({ ...swap, gas: 500_000n }))
  }
  /** Another sells the same at the pool. */
  const worsenPrice = (amount: string) => trade(usd, demo, units(amount))
  /** Another trader sells the token that the orders buy: all that it got for it, and as much as an order pays. */
  const improvePrice = async () => {
    await write(demo, 'mint', to, demoUnits(largeUnits))
    await trade(demo, usd, await balanceOf(demo, to))
  }

  const dollars = (raw: string | bigint) => `${formatUnits(BigInt(raw), decimals)} USDC`
  const coins = (raw: string | bigint) => `${formatUnits(BigInt(raw), 18)} DEMO`
  return {
    ...{ call, chain, mined, request, balanceOf, wallet, owner, usd, demo, settlement, distributorId },
    ...{ units, dollars, coins, worsenPrice, improvePrice },
  }
}

/** Builds, signs and submits orders of the wallet, and checks what is said of them against the chain. */
async function openOrders(market: Market) {
  const { call, chain, mined, request, balanceOf, wallet, owner, usd, demo, settlement, distributorId } = market
  const { units, dollars, coins } = market
  const build = (amount: string, more: Record<string, unknown> = {}): Promise<Json> =>
    call('POST', '/v2/swap/orders/build', {
      ...{ userAddress: owner, chainId: foundry.id, tokenIn: usd, tokenOut: demo, amountIn: String(units(amount)) },
      ...{ slippageBps, distributorId, ...more },
    })
  /** Sends the approval of an order, signs it and submits it. */
  const submit = async (built: Json): Promise<void> => {
    for (const { description, transaction } of built.approvals) {
      const { to: target, data, gasLimit } = transaction
      await mined(await wallet.sendTransaction({ to: target, data, gas: BigInt(gasLimit) }))
      print(`   ${description}`)
    }
    const signature = await wallet.signTypedData(built.typedData)
    await call('POST', '/v2/swap/orders', { orderId: built.orderId, signature })
    const { amountIn, minAmountOut } = await statusOf(built)
    print(`   order ${built.orderId}: ${dollars(amountIn)} for at least ${coins(minAmountOut)}`)
  }
  const statusOf = (built: Json): Promise<Json> => call('GET', `/v2/swap/orders/${built.orderId}`)
  /** Orders are looked at when there is a new block, and on a devnet there is one when it is asked for. */
  const waitFor = async (built: Json, status: string): Promise<Json> => {
    for (let tries = 0; tries < 240; tries++) {
      const order = await statusOf(built)
      if (order.status === status) return order
      if (tries % 4 === 0) await request('evm_mine')
      await systemClock.sleep(250)
    }
    throw new Error(`the order ${built.orderId} was not ${status} within a minute: ${(await statusOf(built)).status}`)
  }
  const before = { usd: await balanceOf(usd, owner), demo: 0n }
  const paid = { usd: 0n, demo: 0n }
  /** Compares the reported state of an order with the chain. */
  const check = async (built: Json, order: Json, counted: bigint): Promise<void> => {
    const [sold, bought] = [BigInt(order.filledIn), BigInt(order.filledOut)]
    print(
      `   ${order.status}: ${dollars(sold)} sold, ${coins(bought)} bought, in ${order.txHashes.length} transaction(s)`,
    )
    if (bought * BigInt(order.amountIn) < sold * BigInt(order.minAmountOut))
      throw new Error(`the order ${order.orderId} was filled below its limit`)
    const args = [built.orderUid] as const
    const filled = await chain.readContract({
      address: settlement,
      abi: settlementAbi,
      functionName: 'filledAmount',
      args,
    })
    if (filled !== counted) throw new Error(`the settlement contract counts ${filled} as filled, not ${counted}`)
    paid.usd += sold
    paid.demo += bought
    const now = { usd: await balanceOf(usd, owner), demo: await balanceOf(demo, owner) }
    if (before.usd - now.usd !== paid.usd) throw new Error(`${before.usd - now.usd} was taken, not ${paid.usd}`)
    if (now.demo - before.demo !== paid.demo) throw new Error(`${now.demo - before.demo} was paid, not ${paid.demo}`)
    const shown = counted === maxUint256 ? 'cancelled' : `${dollars(counted)} as filled`
    print(
      `   checked: the settlement contract counts ${shown}; what left and reached the wallet is the same to the unit`,
    )
  }
  const relayer = await chain.readContract({ address: settlement, abi: settlementAbi, functionName: 'vaultRelayer' })
  const assertNoAllowance = async (): Promise<void> => {
    const args = [owner, relayer] as const
    const left = await chain.readContract({ address: usd, abi: erc20Abi, functionName: 'allowance', args })
    if (left !== 0n) throw new Error(`the vault relayer may still take ${left}`)
    print('   checked: the vault relayer may take nothing more')
  }
  return { build, submit, waitFor, check, assertNoAllowance, paid }
}
