import { depositRouterAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData, erc4626Abi, type Hex, parseAbi } from 'viem'
import { combine, multicall, type Read, readContract } from '../../rpc/multicall.js'
import type { SwapSettings } from '../../rpc/storeChains.js'
import { listRouterErrors } from '../../vaults/index.js'
import type { Quote, SwapAsk, SwapProvider } from './provider.js'

/** Gas of a route through the router, above that of most wrappers. */
const wrapGas = 450_000n

type Wrapper = NonNullable<SwapSettings['wrappers']>[number]
type WrapperKind = NonNullable<Wrapper['kind']>
type Way = 'wrap' | 'unwrap'

/** Input of the router: wrapper, token, amount, receiver and minimum output. */
type Terms = { wrapper: Address; asset: Address; amount: bigint; wallet: Address; minimum: bigint }

/** Reads of a kind of wrapper, and the router's calls for it. */
type Calls = {
  /** The token it says it wraps. */
  readAsset(wrapper: Address): Read<Address | undefined>
  /** Its present output for an amount. */
  readQuote(wrapper: Address, way: Way, amount: bigint): Read<bigint | undefined>
  encode(way: Way, terms: Terms): Hex
  /** Balances of what it wraps are shares times a rate, so that a transfer may move a unit or two less than it is told. */
  rounds: boolean
}

const wrappedStakedAbi = parseAbi([
  'function stETH() view returns (address)',
  'function getWstETHByStETH(uint256 amount) view returns (uint256)',
  'function getStETHByWstETH(uint256 wrapped) view returns (uint256)',
])

const staticATokenAbi = parseAbi(['function aToken() view returns (address)'])

const readVaultQuote = (wrapper: Address, way: Way, amount: bigint) =>
  readContract(wrapper, erc4626Abi, way === 'wrap' ? 'previewDeposit' : 'previewRedeem', [amount])

const kinds: Readonly<Record<WrapperKind, Calls>> = {
  erc4626: {
    readAsset: (wrapper) => readContract(wrapper, erc4626Abi, 'asset', []),
    readQuote: readVaultQuote,
    encode: (way, { wrapper, asset, amount, wallet, minimum }) =>
      way === 'wrap'
        ? encodeFunctionData({
            abi: depositRouterAbi,
            functionName: 'depositWithMinimum',
            args: [wrapper, amount, wallet, minimum],
          })
        : encodeFunctionData({
            abi: depositRouterAbi,
            functionName: 'redeemWithMinimum',
            args: [wrapper, asset, amount, wallet, minimum],
          }),
    rounds: false,
  },
  wsteth: {
    readAsset: (wrapper) => readContract(wrapper, wrappedStakedAbi, 'stETH', []),
    readQuote: (wrapper, way, amount) =>
      readContract(wrapper, wrappedStakedAbi, way === 'wrap' ? 'getWstETHByStETH' : 'getStETHByWstETH', [amount]),
    encode: (way, { wrapper, asset, amount, wallet, minimum }) =>
      encodeFunctionData({
        abi: depositRouterAbi,
        functionName: way === 'wrap' ? 'wrapWithMinimum' : 'unwrapWithMinimum',
        args: [wrapper, asset, amount, wallet, minimum],
      }),
    rounds: true,
  },
  'static-a-token': {
    readAsset: (wrapper) => readContract(wrapper, staticATokenAbi, 'aToken', []),
    readQuote: readVaultQuote,
    encode: (way, { wrapper, asset, amount, wallet, minimum }) =>
      encodeFunctionData({
        abi: depositRouterAbi,
        functionName: way === 'wrap' ? 'depositATokensWithMinimum' : 'redeemATokensWithMinimum',
        args: [wrapper, asset, amount, wallet, minimum],
      }),
    rounds: true,
  },
}

/**
 * Wrappers of tokens whose balances grow, as wstETH and Aave's StataToken: got by their own deposit at their own rate, and
 * left by their own way out. The deposit router holds both to the minimum, which they know none of.
 */
export const wrappers: SwapProvider = {
  name: 'wrapper',
  serves: ({ swap, depositRouter }) => depositRouter !== null && (swap?.wrappers ?? []).length > 0,
  takes: (pair) => findWrap(pair) !== undefined,
  spenders: ({ depositRouter }) => (depositRouter === null ? [] : [depositRouter as Address]),
  quote,
}

type Pair = Pick<SwapAsk, 'settings' | 'tokenIn' | 'tokenOut'>

/** The wrapper that stands between two tokens, and whether it is got or left. */
function findWrap({ settings: { swap }, tokenIn, tokenOut }: Pair): { listed: Wrapper; way: Way } | undefined {
  const find = (wrapper: string, asset: string) =>
    (swap?.wrappers ?? []).find((listed) => listed.address === wrapper && listed.asset === asset)
  const got = find(tokenOut.address, tokenIn.address)
  const left = find(tokenIn.address, tokenOut.address)
  if (got) return { listed: got, way: 'wrap' }
  return left && { listed: left, way: 'unwrap' }
}

async function quote({ chain, settings, tokenIn, tokenOut, amountIn, at }: SwapAsk): Promise<Quote | undefined> {
  const found = findWrap({ settings, tokenIn, tokenOut })
  if (!found) return undefined
  const { listed, way } = found
  const calls = kinds[listed.kind ?? 'erc4626']
  const router = settings.depositRouter as Address
  const wrapper = listed.address as Address
  const { answer } = await multicall(
    chain,
    combine({ asset: calls.readAsset(wrapper), amountOut: calls.readQuote(wrapper, way, amountIn) }),
    at,
  )
  const { asset, amountOut } = answer
  if (asset?.toLowerCase() !== listed.asset || !amountOut) return undefined
  return {
    provider: wrappers.name,
    amountOut,
    netOut: amountOut,
    gas: wrapGas,
    route: [{ action: way, from: tokenIn, to: tokenOut }],
    spender: router,
    target: 'the deposit router',
    decoded: true,
    moves: true,
    ...(calls.rounds && way === 'wrap' ? { rounds: true } : {}),
    errors: listRouterErrors(),
    build: ({ wallet, minimumOut }) => ({
      to: router,
      value: 0n,
      data: calls.encode(way, { wrapper, asset, amount: amountIn, wallet, minimum: minimumOut }),
    }),
  }
}
