import { concat, encodeFunctionData, hashTypedData, keccak256, numberToHex, parseAbi, toHex } from 'viem'
import type { SwapOrderRequest } from '../src/verify/verifySwapOrder.js'

const address = (digit: string) => `0x${digit.repeat(40)}` as const
export const [user, tokenIn, tokenOut, settlement, relayer] = ['1', '2', '3', '4', '5'].map(address) as [
  `0x${string}`,
  ...`0x${string}`[],
]
export const orderId = '01890a5d-ac96-774b-bcce-b302099a8057'
export const validTo = 1_795_000_000

export const request: SwapOrderRequest = {
  ...{ userAddress: user, chainId: 1, tokenIn: tokenIn as string, tokenOut: tokenOut as string },
  ...{ amountIn: '1000000', minAmountOut: '995', distributorId: 'acme', partiallyFillable: true },
  ...{ validToMax: validTo + 60, settlement: settlement as string, relayer: relayer as string },
}

// biome-ignore lint/suspicious/noExplicitAny: an answer that tests change in every place
export type Loose = any

/** An answer of BuildSwapOrder, written apart from what checks it. */
export function build(): Loose {
  const fields = (text: string) =>
    text.split(',').map((each) => ({ type: each.split(' ')[0] ?? '', name: each.split(' ')[1] ?? '' }))
  const typedData = {
    domain: { name: 'Gnosis Protocol', version: 'v2', chainId: 1, verifyingContract: settlement },
    types: {
      EIP712Domain: fields('string name,string version,uint256 chainId,address verifyingContract'),
      Order: fields(
        'address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance',
      ),
    },
    primaryType: 'Order',
    message: {
      ...{ sellToken: tokenIn, buyToken: tokenOut, receiver: user, sellAmount: '1000000', buyAmount: '995', validTo },
      appData: keccak256(
        toHex(`{"appCode":"acme","metadata":{"openearn":{"orderId":"${orderId}"}},"version":"1.1.0"}`),
      ),
      ...{ feeAmount: '0', kind: 'sell', partiallyFillable: true, sellTokenBalance: 'erc20', buyTokenBalance: 'erc20' },
    },
  }
  const abi = parseAbi(['function approve(address, uint256)', 'function invalidateOrder(bytes)'])
  const orderUid = concat([hashTypedData(typedData as never), user, numberToHex(validTo, { size: 4 })])
  const approve = (amount: bigint) => ({
    type: 'approve',
    description: 'Allow it.',
    transaction: {
      ...{ to: tokenIn, value: '0', gasLimit: '120000', chainId: 1 },
      data: encodeFunctionData({ abi, functionName: 'approve', args: [relayer as `0x${string}`, amount] }),
    },
  })
  const data = encodeFunctionData({ abi, functionName: 'invalidateOrder', args: [orderUid] })
  return {
    ...{ orderId, typedData, orderUid, settlement, approvals: [approve(0n), approve(1_000_000n)] },
    quote: { amountOut: '1000', minAmountOut: '995', provider: 'uniswap', expiresAt: '2026-11-18T00:00:00Z' },
    ...{ expiresAt: '2026-11-18T11:06:40Z', cancellation: { to: settlement, data, value: '0', chainId: 1 } },
  }
}

/** What informs and binds nobody. */
export const free = /^(quote\.(amountOut|provider|expiresAt)|approvals\.\d\.(description|transaction\.gasLimit))$/

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

export function leavesOf(value: unknown, path: readonly string[] = []): string[][] {
  return isObject(value)
    ? Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
    : [[...path]]
}

export function changed(path: readonly string[], change: (holder: Loose, name: string) => void): unknown {
  const built = build()
  const holder = path.slice(0, -1).reduce((at, name) => at[name], built)
  change(holder, path.at(-1) ?? '')
  return built
}
