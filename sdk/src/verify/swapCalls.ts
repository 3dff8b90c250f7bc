import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  size,
  slice,
  zeroAddress,
} from 'viem'
import { readCall } from './kindCalls.js'
import { parseAddress } from './shape.js'
import type { KnownWrapper, RouterKind, WrapperKind } from './swapContext.js'

/** The calls of routers that swap what was asked for, for the wallet, and nothing else. Written from their sources. */

export type Token = Address | 'native'

/** The required swap; tokens as in the request. `amountIn`: undefined if any amount is right. */
export type SwapWanted = {
  /** The wrapper between the two tokens, if one of them wraps the other. */
  wrapper?: WrapperWay | undefined
  user: Address
  tokenIn: Token
  tokenOut: Token
  amountIn: bigint | undefined
  wrappedNative: Address | undefined
}

/** The parts of a swap that the request leaves open. `hubs`, `fees`: the route, if it can be read. */
export type SwapFound = {
  amountIn: bigint
  minimumOut: bigint
  deadline: bigint | undefined
  hubs: readonly Address[]
  fees: readonly number[]
}

type ReadSwap = (call: Hex, value: bigint, wanted: Pooled) => SwapFound | undefined

/** The tokens at the ends of a route, the wrapped one where the native one was asked for. */
type Pooled = SwapWanted & { from: Address; to: Address }

const v2Abi = parseAbi([
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  'function swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)',
  'function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
])

const v3Abi = parseAbi([
  'function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) params)',
  'function unwrapWETH9(uint256 amountMinimum, address recipient)',
  'function refundETH()',
  'function multicall(bytes[] data)',
])

const v3Of02Abi = parseAbi([
  'function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params)',
  'function multicall(uint256 deadline, bytes[] data)',
])

const depositRouterAbi = parseAbi([
  'function depositWithMinimum(address vault, uint256 assets, address receiver, uint256 minimumShares)',
])

/** The router's other calls have arguments alike: the wrapper, what it wraps, how much, for whom, for what at least. */
const wrapRouterAbi = parseAbi([
  'function redeemWithMinimum(address vault, address asset, uint256 shares, address receiver, uint256 minimumAssets)',
  'function wrapWithMinimum(address wrapper, address token, uint256 amount, address receiver, uint256 minimumShares)',
  'function unwrapWithMinimum(address wrapper, address token, uint256 amount, address receiver, uint256 minimumAssets)',
  'function depositATokensWithMinimum(address wrapper, address aToken, uint256 amount, address receiver, uint256 minimumShares)',
  'function redeemATokensWithMinimum(address wrapper, address aToken, uint256 shares, address receiver, uint256 minimumAssets)',
])

/** A wrapper that is known, and whether it is got or left. */
type WrapperWay = KnownWrapper & { isGot: boolean }

const wrapperCalls = {
  erc4626: { got: 'depositWithMinimum', left: 'redeemWithMinimum' },
  wsteth: { got: 'wrapWithMinimum', left: 'unwrapWithMinimum' },
  'static-a-token': { got: 'depositATokensWithMinimum', left: 'redeemATokensWithMinimum' },
} as const satisfies Record<WrapperKind, { got: string; left: string }>

const wrappedAbi = parseAbi(['function deposit()', 'function withdraw(uint256 amount)'])

/** Parses a swap in a call to a router; undefined unless it is the wanted swap, byte for byte. */
export function readSwapCall(
  kind: RouterKind,
  { data, value }: { data: Hex; value: bigint },
  wanted: SwapWanted,
): SwapFound | undefined {
  const { wrappedNative, tokenIn, tokenOut } = wanted
  const from = tokenIn === 'native' ? wrappedNative : tokenIn
  const to = tokenOut === 'native' ? wrappedNative : tokenOut
  if (!from || !to || from === to) return undefined
  const found = readers[kind](data, value, { ...wanted, from, to })
  if (!found || (wanted.amountIn !== undefined && found.amountIn !== wanted.amountIn)) return undefined
  return value === (tokenIn === 'native' ? found.amountIn : 0n) ? found : undefined
}

/** Wrapping or unwrapping one for one, at the wrapped token itself. */
export function readWrapCall(
  step: { to: Address; data: Hex; value: bigint },
  { tokenIn, tokenOut, wrappedNative, amountIn }: SwapWanted,
): SwapFound | undefined {
  if (!wrappedNative || step.to !== wrappedNative) return undefined
  const even = (amount: bigint): SwapFound | undefined =>
    amountIn === undefined || amountIn === amount
      ? { amountIn: amount, minimumOut: amount, deadline: undefined, hubs: [], fees: [] }
      : undefined
  if (tokenIn === 'native' && tokenOut === wrappedNative)
    return step.data === encodeFunctionData({ abi: wrappedAbi, functionName: 'deposit' }) ? even(step.value) : undefined
  if (tokenIn !== wrappedNative || tokenOut !== 'native' || step.value !== 0n) return undefined
  const amount = readCall(step.data, wrappedAbi, 'withdraw')?.[0]
  if (typeof amount !== 'bigint') return undefined
  const isExact = step.data === encodeFunctionData({ abi: wrappedAbi, functionName: 'withdraw', args: [amount] })
  return isExact ? even(amount) : undefined
}

const readers: Readonly<Record<RouterKind, ReadSwap>> = {
  'uniswap-v2': readV2,
  'uniswap-v3': readV3,
  'swap-router-02': readV3Of02,
  'deposit-router': readWrapper,
}

/** The wrapper that is known to stand between two tokens. */
export function findWrapper(
  known: readonly KnownWrapper[],
  { tokenIn, tokenOut }: Pick<SwapWanted, 'tokenIn' | 'tokenOut'>,
): WrapperWay | undefined {
  const find = (wrapper: Token, asset: Token) => known.find((each) => each.address === wrapper && each.asset === asset)
  const [got, left] = [find(tokenOut, tokenIn), find(tokenIn, tokenOut)]
  const found = got ?? left
  return found && { ...found, isGot: got !== undefined }
}

/** The wrapper's own deposit or way out, at its rate; the router moves what the wrapper wraps, so that has to be known. */
function readWrapper(call: Hex, _value: bigint, { user, wrapper }: Pooled): SwapFound | undefined {
  if (!wrapper) return undefined
  const { address, asset, kind, isGot } = wrapper
  const functionName = wrapperCalls[kind][isGot ? 'got' : 'left']
  const isShort = functionName === 'depositWithMinimum'
  const read = isShort ? readCall(call, depositRouterAbi, functionName) : readCall(call, wrapRouterAbi, functionName)
  const [amountIn, , minimumOut] = read?.slice(isShort ? 1 : 2) ?? []
  if (typeof amountIn !== 'bigint' || typeof minimumOut !== 'bigint') return undefined
  const data = isShort
    ? encodeFunctionData({ abi: depositRouterAbi, functionName, args: [address, amountIn, user, minimumOut] })
    : encodeFunctionData({ abi: wrapRouterAbi, functionName, args: [address, asset, amountIn, user, minimumOut] })
  return data === call ? { amountIn, minimumOut, deadline: undefined, hubs: [], fees: [] } : undefined
}

function readV2(call: Hex, value: bigint, wanted: Pooled): SwapFound | undefined {
  const { user, tokenIn, tokenOut } = wanted
  const nativeIn = tokenIn === 'native'
  const functionName = nativeIn
    ? 'swapExactETHForTokens'
    : tokenOut === 'native'
      ? 'swapExactTokensForETH'
      : 'swapExactTokensForTokens'
  const read = readCall(call, v2Abi, functionName)
  if (!read) return undefined
  const [amountIn, minimumOut, path, , deadline] = (nativeIn ? [value, ...read] : read) as V2Arguments
  const data = nativeIn
    ? encodeFunctionData({
        abi: v2Abi,
        functionName: 'swapExactETHForTokens',
        args: [minimumOut, path, user, deadline],
      })
    : encodeFunctionData({ abi: v2Abi, functionName, args: [amountIn, minimumOut, path, user, deadline] } as V2Call)
  const hubs = readHubs(
    path.flatMap((token) => parseAddress(token) ?? []),
    wanted,
  )
  return data === call && hubs ? { amountIn, minimumOut, deadline, hubs, fees: [] } : undefined
}

type V2Arguments = readonly [bigint, bigint, readonly Address[], Address, bigint]
type V2Call = { abi: typeof v2Abi; functionName: 'swapExactTokensForTokens'; args: V2Arguments }

function readV3(call: Hex, _value: bigint, wanted: Pooled): SwapFound | undefined {
  const calls = readParts(call, v3Abi)
  const read = readCall(calls?.[0] ?? call, v3Abi, 'exactInput')?.[0] as V3Params | undefined
  if (!read) return undefined
  const { amountIn, amountOutMinimum: minimumOut, deadline } = read
  const recipient = wanted.tokenOut === 'native' ? zeroAddress : wanted.user
  const swap = encodeFunctionData({ abi: v3Abi, functionName: 'exactInput', args: [{ ...read, recipient }] })
  const after = listAfter(wanted, minimumOut)
  const data =
    after.length === 0 ? swap : encodeFunctionData({ abi: v3Abi, functionName: 'multicall', args: [[swap, ...after]] })
  const route = readPath(read.path, wanted)
  return data === call && route ? { amountIn, minimumOut, deadline, ...route } : undefined
}

/** SwapRouter02 has its deadline around its calls, and words of its own for itself. */
function readV3Of02(call: Hex, _value: bigint, wanted: Pooled): SwapFound | undefined {
  const outer = readCall(call, v3Of02Abi, 'multicall') as readonly [bigint, readonly Hex[]] | undefined
  const read = readCall(outer?.[1][0] ?? '0x', v3Of02Abi, 'exactInput')?.[0] as Omit<V3Params, 'deadline'> | undefined
  if (!outer || !read) return undefined
  const [deadline] = outer
  const { amountIn, amountOutMinimum: minimumOut } = read
  const recipient = wanted.tokenOut === 'native' ? routerItself : wanted.user
  const swap = encodeFunctionData({ abi: v3Of02Abi, functionName: 'exactInput', args: [{ ...read, recipient }] })
  const calls = [swap, ...listAfter(wanted, minimumOut)]
  const data = encodeFunctionData({ abi: v3Of02Abi, functionName: 'multicall', args: [deadline, calls] })
  const route = readPath(read.path, wanted)
  return data === call && route ? { amountIn, minimumOut, deadline, ...route } : undefined
}

type V3Params = { path: Hex; recipient: Address; deadline: bigint; amountIn: bigint; amountOutMinimum: bigint }

/** The placeholder of SwapRouter02 for its own address. */
const routerItself = '0x0000000000000000000000000000000000000002'

function readParts(call: Hex, abi: typeof v3Abi): readonly Hex[] | undefined {
  return readCall(call, abi, 'multicall')?.[0] as readonly Hex[] | undefined
}

/** The steps after the swap in the same call: unwrapping for the wallet, or returning the unused amount. */
function listAfter({ tokenIn, tokenOut, user }: Pooled, minimumOut: bigint): Hex[] {
  const unwrap = () => encodeFunctionData({ abi: v3Abi, functionName: 'unwrapWETH9', args: [minimumOut, user] })
  const refund = () => encodeFunctionData({ abi: v3Abi, functionName: 'refundETH' })
  return [...(tokenOut === 'native' ? [unwrap()] : []), ...(tokenIn === 'native' ? [refund()] : [])]
}

const hopsMax = 4

function readHubs(tokens: readonly Address[], { from, to }: Pooled): Address[] | undefined {
  const isRoute = tokens.length >= 2 && tokens.length <= hopsMax + 1 && tokens[0] === from && tokens.at(-1) === to
  return isRoute ? tokens.slice(1, -1) : undefined
}

/** Tokens of 20 bytes with fees of 3 between them. */
function readPath(path: Hex, wanted: Pooled): Pick<SwapFound, 'hubs' | 'fees'> | undefined {
  const hops = (size(path) - 20) / 23
  if (!Number.isInteger(hops) || hops < 1 || hops > hopsMax) return undefined
  const at = Array.from({ length: hops + 1 }, (_, i) => 23 * i)
  const tokens = at.flatMap((start) => parseAddress(slice(path, start, start + 20)) ?? [])
  const fees = at.slice(0, -1).map((start) => Number(slice(path, start + 20, start + 23)))
  const again = concat(
    tokens.flatMap((token, i) => [token, ...(i < fees.length ? [numberToHex(fees[i] ?? 0, { size: 3 })] : [])]),
  )
  const hubs = readHubs(tokens, wanted)
  return hubs && again.toLowerCase() === path.toLowerCase() ? { hubs, fees } : undefined
}
