import T, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi, zeroAddress } from 'viem'
import { type AggregatorKind, isNativeAddress, readData, same } from './aggregator.js'
import type { SwapAsk } from './provider.js'

const step =
  'struct SwapData { address callTo; address approveTo; address sendingAssetId; address receivingAssetId; uint256 fromAmount; bytes callData; bool requiresDeposit; }'
const facts = 'bytes32 transactionId, string integrator, string referrer, address receiver, uint256 minAmountOut'

/** Each pays the receiver at least the minimum of the last step's token, or reverts. */
const routerAbi = parseAbi([
  step,
  `function swapTokensSingleV3ERC20ToERC20(${facts}, SwapData swapData)`,
  `function swapTokensSingleV3ERC20ToNative(${facts}, SwapData swapData)`,
  `function swapTokensSingleV3NativeToERC20(${facts}, SwapData swapData) payable`,
  `function swapTokensMultipleV3ERC20ToERC20(${facts}, SwapData[] swapData)`,
  `function swapTokensMultipleV3ERC20ToNative(${facts}, SwapData[] swapData)`,
  `function swapTokensMultipleV3NativeToERC20(${facts}, SwapData[] swapData) payable`,
])

const Whole = T.String({ pattern: '^[0-9]{1,78}$' })
const Token = T.Object({ address: T.String() })

const Answer = T.Object({
  action: T.Object({
    ...{ fromChainId: T.Integer(), toChainId: T.Integer(), fromToken: Token, toToken: Token },
    ...{ fromAmount: Whole, fromAddress: T.String(), toAddress: T.String() },
  }),
  estimate: T.Object({
    ...{ fromAmount: Whole, toAmount: Whole, approvalAddress: T.String() },
    gasCosts: T.Optional(T.Array(T.Object({ estimate: T.Optional(Whole) }))),
  }),
  transactionRequest: T.Object({
    ...{ to: T.String(), from: T.String(), data: T.String(), chainId: T.Integer() },
    value: T.String({ pattern: '^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$' }),
  }),
})

const validator = Compile(Answer)

/** LI.FI: `GET /v1/quote` within one chain returns a call of its router, which holds the minimum that we write into it. */
export const lifi: AggregatorKind<Static<typeof Answer>> = {
  name: 'lifi',
  title: 'the LI.FI router',
  isAnswer: (value): value is Static<typeof Answer> => validator.Check(value),
  path: ({ chain, wallet, tokenIn, tokenOut, amountIn, slippageBps }) => {
    const query = new URLSearchParams({
      ...{ fromChain: String(chain.chainId), toChain: String(chain.chainId), fromAmount: String(amountIn) },
      ...{ fromToken: toAssetId(tokenIn.address), toToken: toAssetId(tokenOut.address) },
      ...{ fromAddress: wallet, toAddress: wallet, slippage: String(Number(slippageBps) / 10_000) },
    })
    return `/v1/quote?${query}`
  },
  read: ({ action, estimate, transactionRequest: sent }, ask, { router, spender }) => {
    const { chain, wallet, tokenIn, tokenOut, amountIn } = ask
    const { chainId } = chain
    if ([action.fromChainId, action.toChainId, sent.chainId].some((id) => id !== chainId))
      return 'it names another chain'
    if (!isAsset(action.fromToken.address, tokenIn.address) || !isAsset(action.toToken.address, tokenOut.address))
      return 'it names other tokens'
    if ([action.fromAmount, estimate.fromAmount].some((amount) => BigInt(amount) !== amountIn))
      return 'it names another amount'
    if (![action.fromAddress, action.toAddress, sent.from].every((address) => same(address, wallet)))
      return 'it names another wallet'
    if (!same(sent.to, router)) return 'it names another contract than its router'
    const nativeIn = isNativeAddress(tokenIn.address)
    if (!nativeIn && !same(estimate.approvalAddress, spender)) return 'it names another spender than its own'
    if (BigInt(sent.value) !== (nativeIn ? amountIn : 0n)) return 'its value is another'
    const call = readCall(readData(sent.data), ask)
    if (!call) return 'its call does not swap what was asked for'
    const gas = (estimate.gasCosts ?? []).reduce((sum, cost) => sum + BigInt(cost.estimate ?? 0), 0n)
    return {
      amountOut: BigInt(estimate.toAmount),
      gas: gas === 0n ? usualGas : gas,
      build: ({ minimumOut }) => ({ data: encode(call, wallet, minimumOut) }),
    }
  },
}

/** Where it tells none. */
const usualGas = 400_000n

const toAssetId = (address: string) => (isNativeAddress(address) ? zeroAddress : address)

/** Both addresses of the native token are in use. */
const isAsset = (named: string, address: string) =>
  same(named, address) || (isNativeAddress(address) && same(named, zeroAddress))

type SwapCall = ReturnType<typeof decodeFunctionData<typeof routerAbi>>
type SwapStep = Extract<SwapCall, { functionName: 'swapTokensMultipleV3ERC20ToERC20' }>['args'][5][number]

const transferFrom = '0x23b872dd'

/** Its call; undefined where it takes another token or amount, gives another token, or is for another receiver. */
function readCall(data: Hex | undefined, { wallet, tokenIn, tokenOut, amountIn }: SwapAsk): SwapCall | undefined {
  if (!data) return undefined
  try {
    const call = decodeFunctionData({ abi: routerAbi, data })
    const [, , , receiver, , swapData] = call.args
    const single = !Array.isArray(swapData)
    const steps = (single ? [swapData] : swapData) as readonly SwapStep[]
    const [first, last] = [steps[0], steps.at(-1)]
    const ends = `${isNativeAddress(tokenIn.address) ? 'Native' : 'ERC20'}To${isNativeAddress(tokenOut.address) ? 'Native' : 'ERC20'}`
    if (!first || !last || !call.functionName.endsWith(ends) || !same(receiver, wallet)) return undefined
    if (!isAsset(first.sendingAssetId, tokenIn.address) || !isAsset(last.receivingAssetId, tokenOut.address))
      return undefined
    // Only these it takes from the wallet; the wallet may have allowed it more.
    const taken = steps.filter(({ requiresDeposit }) => single || requiresDeposit)
    if (taken.some(({ sendingAssetId }) => !isAsset(sendingAssetId, tokenIn.address))) return undefined
    if (taken.reduce((sum, { fromAmount }) => sum + fromAmount, 0n) !== amountIn) return undefined
    if (steps.some(({ callData }) => callData.startsWith(transferFrom))) return undefined
    return call
  } catch {
    return undefined
  }
}

function encode(call: SwapCall, wallet: `0x${string}`, minimumOut: bigint): Hex {
  const [transactionId, integrator, referrer, , , swapData] = call.args
  const args = [transactionId, integrator, referrer, wallet, minimumOut, swapData]
  return encodeFunctionData({ abi: routerAbi, functionName: call.functionName, args } as never)
}
