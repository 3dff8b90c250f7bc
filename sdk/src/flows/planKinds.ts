import type { EarnClient } from '../client/client.js'
import {
  createCancelDepositInteraction,
  createClaimDepositInteraction,
  createDepositInteraction,
  createWithdrawInteraction,
  getSwap,
} from '../client/generated/operations.js'
import type * as types from '../client/generated/types.js'
import type { CallOptions } from '../client/send.js'
import type { Asked } from '../wallet/checkPlan.js'
import type { PlanFlow, PlanKind } from './state.js'

/** The parameters of each kind of plan, as its operation takes them. */
export type PlanParams = {
  deposit: Omit<types.CreateDepositInteractionParams, 'simulate'>
  withdraw: Omit<types.CreateWithdrawInteractionParams, 'simulate'>
  claim: Omit<types.CreateClaimDepositInteractionParams, 'simulate'>
  cancel: Omit<types.CreateCancelDepositInteractionParams, 'simulate'>
  swap: Omit<types.GetSwapParams, 'simulate'>
}

type Answer = {
  actionId: string
  transactions: types.PreparedTransaction[]
  batch: types.Batch
  validUntil: string
}

const operations: Record<PlanKind, (earn: EarnClient, params: never, options: CallOptions) => Promise<Answer>> = {
  deposit: createDepositInteraction,
  withdraw: createWithdrawInteraction,
  claim: createClaimDepositInteraction,
  cancel: createCancelDepositInteraction,
  swap: getSwap,
}

/** Asks the service for the plan of a flow; the same key again is answered with the same plan. */
export const requestPlan = (earn: EarnClient, { kind, params, key }: PlanFlow): Promise<Answer> =>
  operations[kind](earn, params as never, { idempotencyKey: key })

const verifierTypes = {
  deposit: 'deposit',
  withdraw: 'withdraw',
  claim: 'claimDeposit',
  cancel: 'cancelDeposit',
} as const

/** The request of a flow as the verifier takes it. */
export function toAsked({ kind, params, chainId }: Pick<PlanFlow, 'kind' | 'params' | 'chainId'>): Asked {
  const { slippageBps, ...rest } = params
  const type = kind === 'swap' ? 'swap' : verifierTypes[kind]
  return { ...rest, ...(slippageBps == null ? {} : { slippageBps }), type, chainId } as unknown as Asked
}
