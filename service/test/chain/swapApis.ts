import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  ensoRouterAbi,
  ensoRouterBytecode,
  ensoShortcutsAbi,
  lifiRouterAbi,
  lifiRouterBytecode,
} from '@openearn/contracts'
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  maxUint256,
  parseAbiParameters,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { account } from '../../../contracts/test/anvil.js'
import type { World } from '../actionWorld.js'
import { readPublished } from '../published.js'

const factory = readPublished('@uniswap/v2-core/build/UniswapV2Factory.json')
const router = readPublished('@uniswap/v2-periphery/build/UniswapV2Router02.json')
const native = `0x${'e'.repeat(40)}`
const farAway = 4_000_000_000n

// biome-ignore lint/suspicious/noExplicitAny: a fault may change an answer into any shape
export type Loose = any
/** What goes wrong with an answer of a service: another status, no answer, or a changed body. */
export type ApiFault = (
  name: 'enso' | 'lifi',
  truth: Loose,
) => 'hang' | { status: number; headers?: Record<string, string>; body?: string } | { changed: Loose } | undefined

/**
 * Enso and LI.FI over HTTP on loopback, with answers of their shape, and their routers on the chain of a world. Both route
 * over a V2 exchange nobody else is told of.
 */
export async function openSwapApis(world: World, wrapped: Address) {
  const { anvil } = world
  const owner = account(0)
  const hidden = { factory: await anvil.deploy({ ...factory, args: [owner.address] }), router: '0x' as Address }
  hidden.router = await anvil.deploy({ ...router, args: [hidden.factory, wrapped] })
  const enso = await anvil.deploy({ abi: ensoRouterAbi, bytecode: ensoRouterBytecode, args: [] })
  const lifi = await anvil.deploy({ abi: lifiRouterAbi, bytecode: lifiRouterBytecode, args: [] })
  const shortcuts = await anvil.client.readContract({ address: enso, abi: ensoRouterAbi, functionName: 'shortcuts' })
  const state: { fault: ApiFault | undefined; asked: { name: string; headers: Loose; query: URLSearchParams }[] } = {
    fault: undefined,
    asked: [],
  }

  const isNative = (token: string) => token.toLowerCase() === native || token === zeroAddress
  const pooled = (token: string) => (isNative(token) ? wrapped : token) as Address
  const quote = async (from: string, to: string, amount: bigint) => {
    const args = [amount, [pooled(from), pooled(to)]]
    const call = { address: hidden.router, abi: router.abi, functionName: 'getAmountsOut', args }
    return ((await anvil.client.readContract(call as never)) as bigint[])[1]!
  }
  /** The exchange's own call, for a receiver and with no minimum: the router above it holds one. */
  const swapCall = (from: string, to: string, amount: bigint, receiver: Address): { value: bigint; data: Hex } => {
    const path = [pooled(from), pooled(to)]
    const rest = [path, receiver, farAway]
    const [functionName, args] = isNative(from)
      ? (['swapExactETHForTokens', [0n, ...rest]] as const)
      : ([isNative(to) ? 'swapExactTokensForETH' : 'swapExactTokensForTokens', [amount, 0n, ...rest]] as const)
    return { value: isNative(from) ? amount : 0n, data: encodeFunctionData({ abi: router.abi, functionName, args }) }
  }

  const answerEnso = async (query: URLSearchParams) => {
    const [from, to] = [query.get('tokenIn')!, query.get('tokenOut')!]
    const amount = BigInt(query.get('amountIn')!)
    const receiver = query.get('receiver') as Address
    const amountOut = await quote(from, to, amount)
    const inner = swapCall(from, to, amount, receiver)
    const approval = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'approve', args: [hidden.router, maxUint256] },
    })
    const calls = [
      ...(isNative(from) ? [] : [{ target: from as Address, value: 0n, data: approval }]),
      { target: hidden.router, ...inner },
    ]
    const tokenIn = isNative(from)
      ? { tokenType: 0, data: encodeAbiParameters(parseAbiParameters('uint256'), [amount]) }
      : { tokenType: 1, data: encodeAbiParameters(parseAbiParameters('address, uint256'), [from as Address, amount]) }
    const data = encodeFunctionData({
      abi: ensoRouterAbi,
      functionName: 'routeSingle',
      args: [tokenIn, encodeFunctionData({ abi: ensoShortcutsAbi, functionName: 'run', args: [calls] })],
    })
    return {
      ...{ gas: '310000', amountOut: String(amountOut), priceImpact: 3, feeAmount: [], createdAt: 23_000_000 },
      tx: { to: enso, from: receiver, data, value: String(inner.value) },
      route: [{ action: 'swap', protocol: 'uniswap-v2', tokenIn: [from], tokenOut: [to] }],
    }
  }

  const answerLifi = async (query: URLSearchParams) => {
    const [from, to] = [query.get('fromToken')!, query.get('toToken')!]
    const amount = BigInt(query.get('fromAmount')!)
    const wallet = query.get('fromAddress') as Address
    const amountOut = await quote(from, to, amount)
    const inner = swapCall(from, to, amount, lifi)
    const swapData = {
      ...{ callTo: hidden.router, approveTo: hidden.router, fromAmount: amount, requiresDeposit: true },
      ...{ sendingAssetId: from as Address, receivingAssetId: to as Address, callData: inner.data },
    }
    const ends = `${isNative(from) ? 'Native' : 'ERC20'}To${isNative(to) ? 'Native' : 'ERC20'}`
    const functionName = `swapTokensSingleV3${ends}` as 'swapTokensSingleV3ERC20ToERC20'
    const least = (amountOut * 995n) / 1_000n
    const data = encodeFunctionData({
      ...{ abi: lifiRouterAbi, functionName, args: [zeroHash, 'lifi-api', zeroAddress, wallet, least, swapData] },
    })
    const chainId = Number(query.get('fromChain'))
    const token = (address: string) => ({ address, chainId, symbol: 'T', decimals: 18, name: 'T', priceUSD: '1' })
    return {
      ...{ id: 'a8dc011a-f52d-4492-9e99-21de64b5453a', type: 'lifi', tool: 'sushiswap', includedSteps: [] },
      action: {
        ...{ fromChainId: chainId, toChainId: chainId, fromToken: token(from), toToken: token(to), slippage: 0.005 },
        ...{ fromAmount: String(amount), fromAddress: wallet, toAddress: wallet },
      },
      estimate: {
        ...{ fromAmount: String(amount), toAmount: String(amountOut), toAmountMin: String(least) },
        ...{ approvalAddress: lifi, feeCosts: [], executionDuration: 30, tool: 'sushiswap' },
        gasCosts: [
          { type: 'SEND', price: '1', estimate: '252364', limit: '315455', amount: '252364', amountUSD: '0.00' },
        ],
      },
      transactionRequest: {
        ...{ to: lifi, from: wallet, data, value: toHex(inner.value), chainId, gasLimit: '0x4d2a3', gasPrice: '0x1' },
      },
    }
  }

  const sockets = new Set<Socket>()
  const reply = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const name = url.pathname === '/api/v1/shortcuts/route' ? 'enso' : url.pathname === '/v1/quote' ? 'lifi' : undefined
    if (!name) return reply(response, 404, '{"message":"Cannot GET"}')
    state.asked.push({ name, headers: request.headers, query: url.searchParams })
    const made = await (name === 'enso' ? answerEnso : answerLifi)(url.searchParams).catch(() => undefined)
    if (!made) return reply(response, name === 'enso' ? 400 : 404, '{"message":"No available quotes"}')
    const wrong = state.fault?.(name, made)
    if (wrong === 'hang') return
    if (wrong && 'status' in wrong) return reply(response, wrong.status, wrong.body ?? '{}', wrong.headers)
    reply(response, 200, JSON.stringify(wrong ? wrong.changed : made))
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ enso, lifi, shortcuts, hidden, state },
    /** A pool of the exchange only they know. */
    pool: async (a: Address, b: Address, amountA: bigint, amountB: bigint) => {
      for (const [token, amount] of [
        [a, amountA],
        [b, amountB],
      ] as const) {
        if (token === wrapped)
          await anvil.done(
            anvil.client.sendTransaction({ to: token, data: '0xd0e30db0', value: amount, account: owner }),
          )
        else await world.mint(token, owner.address, amount)
        await world.write(token, erc20Abi, 'approve', [hidden.router, maxUint256])
      }
      const args = [a, b, amountA, amountB, 0n, 0n, owner.address, farAway]
      await world.write(hidden.router, router.abi, 'addLiquidity', args)
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
