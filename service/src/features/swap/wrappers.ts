import { depositRouterAbi } from '@openearn/contracts'
import { type Address, encodeFunctionData, erc4626Abi } from 'viem'
import { combine, multicall, readContract } from '../../rpc/multicall.js'
import type { Quote, SwapAsk, SwapProvider } from './provider.js'

/** What a deposit through the router uses, more than most wrappers do. */
const depositGas = 350_000n

/**
 * Wrappers of tokens whose balances grow, as Aave's StataToken (ERC-4626): got by their own deposit at their own rate. The
 * deposit router holds it to the minimum, which ERC-4626 knows none of.
 */
export const wrappers: SwapProvider = {
  name: 'wrapper',
  serves: ({ swap, depositRouter }) => depositRouter !== null && (swap?.wrappers ?? []).length > 0,
  takes: ({ settings: { swap }, tokenIn, tokenOut }) =>
    (swap?.wrappers ?? []).some(({ address, asset }) => address === tokenOut.address && asset === tokenIn.address),
  spenders: ({ depositRouter }) => (depositRouter === null ? [] : [depositRouter as Address]),
  quote,
}

async function quote({ chain, settings, tokenIn, tokenOut, amountIn, at }: SwapAsk): Promise<Quote | undefined> {
  const router = settings.depositRouter as Address
  const wrapper = tokenOut.address as Address
  const { answer } = await multicall(
    chain,
    combine({
      asset: readContract(wrapper, erc4626Abi, 'asset', []),
      amountOut: readContract(wrapper, erc4626Abi, 'previewDeposit', [amountIn]),
    }),
    at,
  )
  const { asset, amountOut } = answer
  if (asset?.toLowerCase() !== tokenIn.address || !amountOut) return undefined
  return {
    provider: wrappers.name,
    amountOut,
    netOut: amountOut,
    gas: depositGas,
    route: [{ action: 'wrap', from: tokenIn, to: tokenOut }],
    spender: router,
    target: 'the deposit router',
    decoded: true,
    moves: true,
    build: ({ wallet, minimumOut }) => ({
      to: router,
      value: 0n,
      data: encodeFunctionData({
        abi: depositRouterAbi,
        functionName: 'depositWithMinimum',
        args: [wrapper, amountIn, wallet, minimumOut],
      }),
    }),
  }
}
