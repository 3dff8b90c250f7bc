import type { BuildSwapOrderParams, BuiltSwapOrder } from '../client/generated/types.js'
import type { OrderAsked } from '../wallet/ask.js'
import { type Base, change, type Problem, type Request } from './state.js'

export type OrderStatus =
  | 'building'
  | 'ready'
  | 'approving'
  | 'approval-sent'
  | 'signing'
  | 'submitting'
  | 'open'
  | 'filled'
  | 'partially-filled'
  | 'cancelled'
  | 'expired'
  | 'refused'

/** An order: its approvals, its signature, and what becomes of it. */
export type OrderFlow = Base & {
  kind: 'order'
  status: OrderStatus
  params: BuildSwapOrderParams & { amountIn: string }
  key: string
  built?: BuiltSwapOrder | undefined
  /** The least amount that was compared with an own quote. */
  least?: string | undefined
  /** Unix milliseconds of the machine that asked for it. */
  builtAt?: number | undefined
  position: number
  asked?: Request | undefined
  hash?: string | undefined
  /** Of the order, once the service has it. The signature itself is not kept. */
  filledIn?: string | undefined
  filledOut?: string | undefined
  cancelHash?: string | undefined
}

export const refuse = (flow: OrderFlow, problem: Problem) =>
  change(flow, { status: 'refused', needs: undefined, problem })
export const back = (flow: OrderFlow, problem: Problem) => change(flow, { status: 'ready', needs: 'go', problem })

/** The request as the verifier takes it. */
export function toAsked({ params, chainId, least = '1', builtAt = 0 }: OrderFlow): OrderAsked {
  const { userAddress, tokenIn, tokenOut, amountIn, distributorId, opportunityId, partiallyFillable } = params
  const { validForSeconds = 1_800 } = params
  return {
    ...{ userAddress, chainId, tokenIn, tokenOut, amountIn, distributorId, minAmountOut: least },
    ...(opportunityId === undefined ? {} : { opportunityId }),
    ...(partiallyFillable === undefined ? {} : { partiallyFillable }),
    // Clocks differ, by an hour at most: the order ends by itself, and can be ended.
    validToMax: Math.floor(builtAt / 1_000) + validForSeconds + 3_700,
  }
}
