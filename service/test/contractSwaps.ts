import type { As, Interaction, PageNav, PageQuery, SwapToken } from './contractItems.js'

type Cancellation = { to: string; data: string; value: string; chainId: number }
type Field = { name: string; type: string }

type TypedData = {
  domain: { name: string; version: string; chainId: number; verifyingContract: string }
  types: { EIP712Domain: Field[]; Order: Field[] }
  primaryType: string
  message: {
    sellToken: string
    buyToken: string
    receiver: string
    sellAmount: string
    buyAmount: string
    validTo: number
    appData: string
    feeAmount: string
    kind: string
    partiallyFillable: boolean
    sellTokenBalance: string
    buyTokenBalance: string
  }
}

type SwapOrder = {
  orderId: string
  status: 'built' | 'open' | 'partially-filled' | 'filled' | 'cancelled' | 'expired' | 'failed'
  userAddress: string
  chainId: number
  tokenIn: string
  tokenOut: string
  amountIn: string
  minAmountOut: string
  filledIn: string
  filledOut: string
  txHashes: string[]
  distributorId: string
  error: string | null
  createdAt: string
  updatedAt: string
  expiresAt: string
  orderUid: string
  settlement: string
  cancellation: Cancellation
  attempts: {
    at: string
    outcome: 'considered' | 'tooDear' | 'noRoute' | 'unfunded' | 'reverted' | 'filled'
    detail: string
  }[]
}

/** Swaps and swap orders as the contract writes them, by hand. */
export type SwapOperations = {
  GetSwap: As<{
    query: {
      user: string
      chainId: number
      distributorId: string
      tokenIn: string
      tokenOut: string
      amountIn: string
      slippageBps: number
      simulate?: boolean
    }
    answer: Interaction
  }>
  GetSwapDetails: As<{
    query: { chainId?: number }
    answer: {
      chains: {
        chainId: string
        name: string
        slug: string
        ecosystem: string
        logoUrl: string
        explorerUrl: string
        nativePriceUsd: number
      }[]
      popularTokens: SwapToken[]
    }
  }>
  GetSwapTokens: As<{
    query: PageQuery & { chainId?: number; search?: string }
    answer: { data: SwapToken[]; pagination: PageNav }
  }>
  ReportSwapExecution: As<{
    body: { actionId?: string; orderId?: string; chainId: number; txHash: string }
    answer: {
      accepted: boolean
      status: 'pending' | 'confirmed' | 'failed'
      actionId: string | null
      orderId: string | null
    }
  }>
  BuildSwapOrder: As<{
    body: {
      userAddress: string
      chainId: number
      tokenIn: string
      tokenOut: string
      amountIn: string
      slippageBps: number
      distributorId: string
      receiver?: string
      validForSeconds?: number
      partiallyFillable?: boolean
      opportunityId?: string
    }
    answer: {
      orderId: string
      typedData: TypedData
      approvals: Interaction['transactions']
      quote: { amountOut: string; minAmountOut: string; provider: string; expiresAt: string }
      expiresAt: string
      orderUid: string
      settlement: string
      cancellation: Cancellation
    }
  }>
  SubmitSwapOrder: As<{ body: { orderId: string; signature: string }; answer: SwapOrder }>
  GetSwapOrderStatus: As<{ path: { orderId: string }; answer: SwapOrder }>
}
