// A chain with Uniswap V2 and V3, the settlement contract of CoW Protocol, all as published, and a catalogue that names
// them; for benches of swap orders.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { testTokenAbi, testTokenBytecode, wrappedNativeAbi, wrappedNativeBytecode } from '@openearn/contracts'
import { encodeFunctionData, maxUint256, zeroAddress } from 'viem'
import { computeOrderUid, hashAppData, toTypedData } from '../../service/dist/features/orders/sellOrder.js'
import { recordOrder, submitOrder } from '../../service/dist/features/orders/storeOrders.js'
import { systemClock } from '../../service/dist/kernel/clock.js'
import { newId } from '../../service/dist/kernel/ids.js'
import { inTransaction } from '../../service/dist/postgres/pool.js'
import { account, chainId, startChain } from './chain.mjs'
import { organizationId } from './database.mjs'

const require = createRequire(new URL('../../service/package.json', import.meta.url))

function published(path) {
  const { abi, bytecode } = JSON.parse(readFileSync(require.resolve(path), 'utf8'))
  return { abi, bytecode: bytecode.startsWith('0x') ? bytecode : `0x${bytecode}` }
}
const v3 = (path) => published(`@uniswap/${path}`)
const cow = (name) => published(`@cowprotocol/contracts/lib/contracts/${name}.json`)

export const unit = 10n ** 18n
const distributorId = 'acme'
const farAway = 4_000_000_000n
const depth = 10_000n * unit

/** `count` tokens of 18 decimals beside two that routes may pass, a pool of each exchange between all of them, each at 1 to 1. */
export async function openOrderChain(db, { count, timestamp }) {
  const node = await startChain(timestamp === undefined ? {} : { timestamp })
  const { client } = node
  const owner = account(0)
  // Each transaction is mined at once: its nonce and gas need not be asked for.
  let nonce = await client.getTransactionCount({ address: owner.address })
  const sent = []
  const send = (to, data, value = 0n) => {
    sent.push(client.sendTransaction({ account: owner, to, data, value, gas: 15_000_000n, nonce: nonce++ }))
    return sent.at(-1)
  }
  // viem's own waiting looks again only when a block comes: of one that is mined on demand none may come after.
  const readReceipt = async (hash) => {
    for (;;) {
      const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      if (receipt?.status === '0x0') throw new Error(`transaction ${hash} reverted`)
      if (receipt) return receipt
      await systemClock.sleep(10)
    }
  }
  const settled = async () => {
    for (const hash of await Promise.all(sent.splice(0))) await readReceipt(hash)
  }
  const write = (address, abi, functionName, args, value) =>
    send(address, encodeFunctionData({ abi, functionName, args }), value)
  const deploy = async ({ abi, bytecode }, args = []) => {
    const hash = await client.deployContract({ account: owner, abi, bytecode, args, gas: 15_000_000n, nonce: nonce++ })
    return (await readReceipt(hash)).contractAddress
  }

  const weth = await deploy({ abi: wrappedNativeAbi, bytecode: wrappedNativeBytecode })
  const tokens = []
  for (let index = 0; index <= count; index++)
    tokens.push(await deploy({ abi: testTokenAbi, bytecode: testTokenBytecode }, [`Token ${index}`, `T${index}`, 18]))
  const [hub, ...traded] = tokens
  const factory2 = await deploy(v3('v2-core/build/UniswapV2Factory.json'), [owner.address])
  const router2Code = v3('v2-periphery/build/UniswapV2Router02.json')
  const router2 = await deploy(router2Code, [factory2, weth])
  const factory3 = await deploy(v3('v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json'))
  const router3 = await deploy(v3('v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json'), [factory3, weth])
  const quoter = await deploy(v3('v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json'), [factory3, weth])
  const managerCode = v3(
    'v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json',
  )
  const manager = await deploy(managerCode, [factory3, weth, weth])
  const authentication = cow('GPv2AllowListAuthentication')
  const authenticator = await deploy(authentication)
  const settlementCode = cow('GPv2Settlement')
  const settlement = await deploy(settlementCode, [authenticator, zeroAddress])
  const relayer = await client.readContract({
    ...{ address: settlement, abi: settlementCode.abi, functionName: 'vaultRelayer' },
  })

  const mint = (token, to, amount) =>
    token === weth
      ? [send(weth, '0xd0e30db0', amount), write(weth, wrappedNativeAbi, 'transfer', [to, amount])]
      : write(token, testTokenAbi, 'mint', [to, amount])
  const pair = (a, b) => {
    const rest = [0n, 0n, owner.address, farAway]
    write(router2, router2Code.abi, 'addLiquidity', [a, b, depth, depth, ...rest])
    const [token0, token1] = a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
    write(manager, managerCode.abi, 'createAndInitializePoolIfNecessary', [token0, token1, 3_000, 1n << 96n])
    const range = { token0, token1, fee: 3_000, tickLower: -887_220, tickUpper: 887_220 }
    const amounts = { amount0Desired: depth, amount1Desired: depth, amount0Min: 0n, amount1Min: 0n }
    write(manager, managerCode.abi, 'mint', [{ ...range, ...amounts, recipient: owner.address, deadline: farAway }])
  }
  await client.setBalance({ address: owner.address, value: 10n ** 30n })
  const all = [weth, hub, ...traded]
  for (const token of all) {
    mint(token, owner.address, 1_000n * depth)
    for (const spender of [router2, manager]) write(token, testTokenAbi, 'approve', [spender, maxUint256])
  }
  await settled()
  for (const [at, a] of all.entries()) for (const b of all.slice(at + 1)) pair(a, b)
  write(authenticator, authentication.abi, 'initializeManager', [owner.address])
  await settled()
  write(authenticator, authentication.abi, 'addSolver', [owner.address])
  await settled()

  const approval = encodeFunctionData({ abi: testTokenAbi, functionName: 'approve', args: [relayer, maxUint256] })
  const lower = (address) => address.toLowerCase()
  const swap = {
    hubTokens: [weth, hub].map(lower),
    uniswapV2: { factory: lower(factory2), router: lower(router2) },
    uniswapV3: {
      ...{ factory: lower(factory3), router: lower(router3), quoter: lower(quoter), fees: [500, 3_000, 10_000] },
    },
    orders: { settlement: lower(settlement), relayer: lower(relayer), authenticator: lower(authenticator) },
  }
  await db`insert into organizations (id, name, organization_type) values (${organizationId}, 'O', 'distributor')`
  await db`insert into distributors (id, organization_id, active_from) values (${distributorId}, ${organizationId}, 'epoch')`
  await db`
    insert into chains (chain_id, name, slug, watched, reorg_recheck_seconds, wrapped_native, swap)
    values (${chainId}, 'Bench', 'bench', true, 0, ${lower(weth)}, ${JSON.stringify(swap)}::text::jsonb)`
  for (const [index, token] of all.entries())
    await db`insert into tokens (chain_id, address, decimals, symbol, name)
      values (${chainId}, ${lower(token)}, 18, ${`T${index}`}, 'Token')`
  return {
    ...{ node, client, weth, hub, owner, authenticator, relayer, write, settled, mint },
    settlement: { address: settlement, abi: settlementCode.abi },
    tokens: traded,
    orders: swap.orders,
    /** Gives wallets of nobody a token each, that the settlement contract may take. */
    fundEach: async (wallets, amount) => {
      await client.request({ method: 'anvil_autoImpersonateAccount', params: [true] })
      for (const { owner: wallet, token } of wallets) {
        mint(token, wallet, amount)
        await client.setBalance({ address: wallet, value: 10n ** 20n })
        sent.push(client.sendTransaction({ account: wallet, to: token, data: approval, gas: 100_000n, nonce: 0 }))
        if (sent.length >= 100) await settled()
      }
      await settled()
    },
    /** Keeps an order as if it were built and submitted; that of an account with a key is really signed. */
    keepOrder: async (db, { owner: of, tokenIn, tokenOut, amountIn, minAmountOut, partiallyFillable, expiresAt }) => {
      const wallet = lower(of.address ?? of)
      const { settlement, relayer } = swap.orders
      const signed = {
        ...{ chainId, settlement, owner: wallet, sellToken: tokenIn, buyToken: tokenOut, sellAmount: amountIn },
        ...{
          buyAmount: minAmountOut,
          validTo: expiresAt.getTime() / 1_000,
          appData: hashAppData('{}'),
          partiallyFillable,
        },
      }
      const order = {
        ...{ id: newId(), organizationId, distributorId, opportunityId: null, chainId, settlement, relayer },
        ...{
          owner: wallet,
          tokenIn,
          tokenOut,
          amountIn,
          minAmountOut,
          partiallyFillable,
          uid: computeOrderUid(signed),
        },
        ...{ appData: '{}', appDataHash: signed.appData, expiresAt, createdAt: new Date() },
      }
      const signature = of.address ? await of.signTypedData(toTypedData(signed)) : `0x${'01'.repeat(65)}`
      const submission = { signature, scheme: 'eip712', venue: 'local', submittedAt: new Date() }
      await inTransaction(db, async (tx) => {
        await recordOrder(tx, order, 0)
        await submitOrder(tx, order.id, submission)
      })
      return { ...order, submission }
    },
    /** Settles a part of an order out of what the settlement contract holds. */
    settlePart: (order, part) => {
      const trade = {
        ...{ sellTokenIndex: 0n, buyTokenIndex: 1n, receiver: order.owner, sellAmount: order.amountIn },
        ...{ buyAmount: order.minAmountOut, validTo: order.expiresAt.getTime() / 1_000, appData: order.appDataHash },
        ...{ feeAmount: 0n, flags: 2n, executedAmount: part, signature: order.submission.signature },
      }
      const prices = [order.minAmountOut, order.amountIn]
      const args = [[order.tokenIn, order.tokenOut], prices, [trade], [[], [], []]]
      return write(settlement, settlementCode.abi, 'settle', args)
    },
    /** Gives a wallet with a key of all tokens. */
    fund: async (wallet, amount) => {
      for (const token of traded) {
        mint(token, wallet.address, amount)
        await client.sendTransaction({ account: wallet, to: token, data: approval, gas: 100_000n })
      }
      await settled()
    },
  }
}
