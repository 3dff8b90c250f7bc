import T, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import {
  type Address,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { type AggregatorKind, isNativeAddress, readData, same } from './aggregator.js'
import type { SwapAsk, Terms } from './provider.js'

const routerAbi = parseAbi([
  'struct Token { uint8 tokenType; bytes data; }',
  'function routeSingle(Token tokenIn, bytes data) payable returns (bytes)',
  'function safeRouteSingle(Token tokenIn, Token tokenOut, address receiver, bytes data) payable returns (bytes)',
])

const Whole = T.String({ pattern: '^[0-9]{1,78}$' })

const Answer = T.Object({
  gas: Whole,
  amountOut: Whole,
  tx: T.Object({ to: T.String(), from: T.String(), data: T.String(), value: T.String({ pattern: '^[0-9]{1,78}$' }) }),
})

const validator = Compile(Answer)

/**
 * Enso: `GET /api/v1/shortcuts/route` returns a call of its router, which takes the token and runs the route apart from
 * every allowance. We call the router's checked form, so that it holds the minimum against the wallet's own balance.
 */
export const enso: AggregatorKind<Static<typeof Answer>> = {
  name: 'enso',
  title: 'the Enso router',
  isAnswer: (value): value is Static<typeof Answer> => validator.Check(value),
  path: ({ chain, wallet, tokenIn, tokenOut, amountIn, slippageBps }) => {
    const query = new URLSearchParams({
      ...{ chainId: String(chain.chainId), fromAddress: wallet, receiver: wallet, spender: wallet },
      ...{ tokenIn: tokenIn.address, tokenOut: tokenOut.address, amountIn: String(amountIn) },
      ...{ slippage: String(slippageBps), routingStrategy: 'router' },
    })
    return `/api/v1/shortcuts/route?${query}`
  },
  read: ({ tx, amountOut, gas }, ask, { router }) => {
    if (!same(tx.to, router)) return 'it names another contract than its router'
    if (!same(tx.from, ask.wallet)) return 'its call is for another wallet'
    if (BigInt(tx.value) !== (isNativeAddress(ask.tokenIn.address) ? ask.amountIn : 0n)) return 'its value is another'
    const shortcut = readShortcut(readData(tx.data), ask)
    if (!shortcut) return 'its call does not swap what was asked for'
    return {
      amountOut: BigInt(amountOut),
      gas: BigInt(gas),
      build: (terms) => ({ data: encode(shortcut, ask, terms) }),
    }
  },
}

/** The commands that the router runs; undefined if the call takes another token or amount, or names another receiver. */
function readShortcut(data: Hex | undefined, ask: SwapAsk): Hex | undefined {
  if (!data) return undefined
  try {
    const call = decodeFunctionData({ abi: routerAbi, data })
    const [tokenIn] = call.args
    if (!isToken(tokenIn, ask.tokenIn.address, (amount) => amount === ask.amountIn)) return undefined
    if (call.functionName === 'routeSingle') return call.args[1]
    const [, tokenOut, receiver, shortcut] = call.args
    if (!same(receiver, ask.wallet) || !isToken(tokenOut, ask.tokenOut.address, () => true)) return undefined
    return shortcut
  } catch {
    return undefined
  }
}

type RouterToken = { tokenType: number; data: Hex }

const kinds = { native: 0, erc20: 1 } as const
const nativeData = parseAbiParameters('uint256 amount')
const erc20Data = parseAbiParameters('address token, uint256 amount')

function isToken({ tokenType, data }: RouterToken, address: string, fits: (amount: bigint) => boolean): boolean {
  if (isNativeAddress(address)) {
    return tokenType === kinds.native && fits(decodeAbiParameters(nativeData, data)[0])
  }
  if (tokenType !== kinds.erc20) return false
  const [token, amount] = decodeAbiParameters(erc20Data, data)
  return same(token, address) && fits(amount)
}

function toToken(address: string, amount: bigint): RouterToken {
  return isNativeAddress(address)
    ? { tokenType: kinds.native, data: encodeAbiParameters(nativeData, [amount]) }
    : { tokenType: kinds.erc20, data: encodeAbiParameters(erc20Data, [address as Address, amount]) }
}

function encode(shortcut: Hex, { tokenIn, tokenOut, amountIn }: SwapAsk, { wallet, minimumOut }: Terms): Hex {
  return encodeFunctionData({
    abi: routerAbi,
    functionName: 'safeRouteSingle',
    args: [toToken(tokenIn.address, amountIn), toToken(tokenOut.address, minimumOut), wallet, shortcut],
  })
}
