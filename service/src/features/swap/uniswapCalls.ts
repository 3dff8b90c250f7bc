import { type Address, concat, encodeFunctionData, type Hex, numberToHex, parseAbi, zeroAddress } from 'viem'
import { combineAll, mapRead, type Read, readContract } from '../../rpc/multicall.js'
import type { Call } from '../../rpc/simulateBlock.js'
import type { SwapSettings } from '../../rpc/storeChains.js'
import type { Terms } from './provider.js'
import type { Quoted, Route } from './routes.js'

/** Reads and calls of the exchanges. */

const v2Abi = parseAbi([
  'function factory() view returns (address)',
  'function WETH() view returns (address)',
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)',
  'function swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline) payable returns (uint256[] amounts)',
  'function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline) returns (uint256[] amounts)',
])

const quoterAbi = parseAbi([
  'function factory() view returns (address)',
  'function quoteExactInput(bytes path, uint256 amountIn) view returns (uint256 amountOut, uint160[] sqrtPriceX96AfterList, uint32[] initializedTicksCrossedList, uint256 gasEstimate)',
])

const v3RouterAbi = parseAbi([
  'function factory() view returns (address)',
  'function WETH9() view returns (address)',
  'struct Params { bytes path; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; }',
  'function exactInput(Params params) payable returns (uint256 amountOut)',
  'function unwrapWETH9(uint256 amountMinimum, address recipient) payable',
  'function refundETH() payable',
  'function multicall(bytes[] data) payable returns (bytes[] results)',
])

/** SwapRouter02: the placeholder for its own address, and its own calls. */
const router02Itself = '0x0000000000000000000000000000000000000002'
const router02Abi = parseAbi([
  'struct Params { bytes path; address recipient; uint256 amountIn; uint256 amountOutMinimum; }',
  'function exactInput(Params params) payable returns (uint256 amountOut)',
  'function multicall(uint256 deadline, bytes[] data) payable returns (bytes[] results)',
])

/** Where a V3 pool stops when it has nothing left to give. */
const lowestPrice = 4_295_128_740n
const highestPrice = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341n

type V2 = NonNullable<SwapSettings['uniswapV2']>
type V3 = NonNullable<SwapSettings['uniswapV3']>

const same = (a: string | undefined, b: string) => a?.toLowerCase() === b

/** Whether the router on the chain is of the factory, and wraps as the chain does. */
export function checkV2({ router, factory }: V2, wrapped: string): Read<boolean> {
  const to = router as Address
  return isEach([
    mapRead(readContract(to, v2Abi, 'factory', []), (found) => same(found, factory)),
    mapRead(readContract(to, v2Abi, 'WETH', []), (found) => same(found, wrapped)),
  ])
}

/** The same of the V3 router and its quoter. */
export function checkV3({ router, quoter, factory }: V3, wrapped: string): Read<boolean> {
  const to = router as Address
  return isEach([
    mapRead(readContract(to, v3RouterAbi, 'factory', []), (found) => same(found, factory)),
    mapRead(readContract(to, v3RouterAbi, 'WETH9', []), (found) => same(found, wrapped)),
    mapRead(readContract(quoter as Address, quoterAbi, 'factory', []), (found) => same(found, factory)),
  ])
}

const isEach = (reads: readonly Read<boolean>[]) => mapRead(combineAll(reads), (answers) => answers.every(Boolean))

/** Quotes a route; undefined if a pool is missing or cannot take the whole amount. */
export function quoteRoute(settings: SwapSettings, route: Route, amountIn: bigint): Read<Quoted | undefined> {
  const { uniswapV2, uniswapV3 } = settings
  if (route.exchange === 'v2') {
    const read = readContract(uniswapV2?.router as Address, v2Abi, 'getAmountsOut', [amountIn, toPath(route)])
    return mapRead(read, (amounts) => toQuoted(route, amounts?.at(-1), 0))
  }
  const args = [encodePath(route.tokens, route.fees), amountIn] as const
  return mapRead(readContract(uniswapV3?.quoter as Address, quoterAbi, 'quoteExactInput', args), (answer) => {
    if (!answer) return undefined
    const [amountOut, prices, ticks] = answer
    // A pool that ran dry took less than it was given, and quotes what that was worth.
    if (prices.some((price) => price <= lowestPrice || price >= highestPrice)) return undefined
    return toQuoted(
      route,
      amountOut,
      ticks.reduce((sum, each) => sum + each, 0),
    )
  })
}

function toQuoted(route: Route, amountOut: bigint | undefined, ticks: number): Quoted | undefined {
  return amountOut === undefined ? undefined : { route, amountOut, ticks }
}

const toPath = ({ tokens }: Route) => tokens as readonly Address[]

/** The tokens of a V3 route with the fee of the pool between each two. */
function encodePath(tokens: readonly string[], fees: readonly number[]): Hex {
  const [first, ...rest] = tokens as readonly Hex[]
  return concat([first ?? '0x', ...rest.flatMap((token, i) => [numberToHex(fees[i] ?? 0, { size: 3 }), token])])
}

export type RouteOrder = Terms & { amountIn: bigint; nativeIn: boolean; nativeOut: boolean }

/** The call that swaps by a route; the output goes to the wallet. */
export function buildRouteCall(settings: SwapSettings, route: Route, order: RouteOrder): Call {
  const value = order.nativeIn ? order.amountIn : 0n
  if (route.exchange === 'v2')
    return { to: settings.uniswapV2?.router as Address, value, data: encodeV2(toPath(route), order) }
  const encode = settings.uniswapV3?.routerKind === 'swap-router-02' ? encodeV3Of02 : encodeV3
  return { to: settings.uniswapV3?.router as Address, value, data: encode(route, order) }
}

function encodeV2(path: readonly Address[], order: RouteOrder): Hex {
  const { amountIn, minimumOut, wallet, deadline } = order
  if (order.nativeIn)
    return encodeFunctionData({
      abi: v2Abi,
      functionName: 'swapExactETHForTokens',
      args: [minimumOut, path, wallet, deadline],
    })
  const functionName = order.nativeOut ? 'swapExactTokensForETH' : 'swapExactTokensForTokens'
  return encodeFunctionData({ abi: v2Abi, functionName, args: [amountIn, minimumOut, path, wallet, deadline] })
}

function encodeV3(route: Route & { exchange: 'v3' }, order: RouteOrder): Hex {
  const { amountIn, minimumOut, wallet, deadline } = order
  const swap = encodeFunctionData({
    abi: v3RouterAbi,
    functionName: 'exactInput',
    args: [
      {
        path: encodePath(route.tokens, route.fees),
        // The router keeps the wrapped token for itself, and unwraps it for the wallet in the same call.
        recipient: order.nativeOut ? zeroAddress : wallet,
        deadline,
        amountIn,
        amountOutMinimum: minimumOut,
      },
    ],
  })
  const after = listAfter(order)
  if (after.length === 0) return swap
  return encodeFunctionData({ abi: v3RouterAbi, functionName: 'multicall', args: [[swap, ...after]] })
}

function encodeV3Of02(route: Route & { exchange: 'v3' }, order: RouteOrder): Hex {
  const { amountIn, minimumOut: amountOutMinimum, wallet, deadline } = order
  const path = encodePath(route.tokens, route.fees)
  const recipient = order.nativeOut ? router02Itself : wallet
  const params = { path, recipient, amountIn, amountOutMinimum } as const
  const swap = encodeFunctionData({ abi: router02Abi, functionName: 'exactInput', args: [params] })
  const calls = [swap, ...listAfter(order)]
  return encodeFunctionData({ abi: router02Abi, functionName: 'multicall', args: [deadline, calls] })
}

/** The steps after the swap in the same call of a V3 router. */
function listAfter({ minimumOut, wallet, nativeIn, nativeOut }: RouteOrder): Hex[] {
  return [
    ...(nativeOut
      ? [encodeFunctionData({ abi: v3RouterAbi, functionName: 'unwrapWETH9', args: [minimumOut, wallet] })]
      : []),
    // A pool that has run dry leaves the rest in the router, where anybody can take it.
    ...(nativeIn ? [encodeFunctionData({ abi: v3RouterAbi, functionName: 'refundETH' })] : []),
  ]
}
