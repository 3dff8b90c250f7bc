import { type Address, encodeFunctionData } from 'viem'
import { wrappedAbi } from '../../rpc/abis.js'
import { nativeToken } from '../../rpc/native.js'
import type { Quote, SwapAsk, SwapProvider } from './provider.js'

/** Gas of wrapping and unwrapping, above the measured one. */
const wrapGas = 60_000n

/** The native token and the ERC-20 that wraps it, one for one. */
export const wrapping: SwapProvider = {
  name: 'wrapped-native',
  serves: ({ wrappedNative }) => wrappedNative !== null,
  takes: isWrap,
  spenders: () => [],
  quote: async (ask) => quoteWrap(ask),
}

/** Whether the tokens are the native one and the one that wraps it. */
export function isWrap({ settings, tokenIn, tokenOut }: Pick<SwapAsk, 'settings' | 'tokenIn' | 'tokenOut'>): boolean {
  const pair = [tokenIn.address, tokenOut.address]
  return pair.includes(nativeToken.toLowerCase()) && pair.includes(settings.wrappedNative ?? '')
}

function quoteWrap({ settings, tokenIn, tokenOut, amountIn }: SwapAsk): Quote | undefined {
  const { wrappedNative } = settings
  if (wrappedNative === null) return undefined
  const wraps = tokenOut.address === wrappedNative
  const to = wrappedNative as Address
  return {
    provider: wrapping.name,
    amountOut: amountIn,
    netOut: amountIn,
    gas: wrapGas,
    route: [{ action: wraps ? 'wrap' : 'unwrap', from: tokenIn, to: tokenOut }],
    spender: undefined,
    target: to,
    even: true,
    decoded: true,
    build: () =>
      wraps
        ? { to, value: amountIn, data: encodeFunctionData({ abi: wrappedAbi, functionName: 'deposit' }) }
        : { to, value: 0n, data: encodeFunctionData({ abi: wrappedAbi, functionName: 'withdraw', args: [amountIn] }) },
  }
}
