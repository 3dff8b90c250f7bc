import type { BuildSwapOrderParams } from '../client/generated/types.js'
import type { ClaimFlow } from './claimFlow.js'
import type { JoinFlow } from './joinFlow.js'
import type { OrderFlow } from './orderState.js'
import type { PlanParams } from './planKinds.js'
import { type Base, make, newId, type PlanFlow, type PlanKind } from './state.js'

const base = (wallet: string, chainId: number): Base => ({
  ...{ version: 1, id: newId(), chainId, wallet, status: 'building' },
})

/** Amounts as text, so that every state is JSON. */
const toJson = <P extends object>(params: P): Record<string, unknown> =>
  JSON.parse(JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))

const plan = <K extends PlanKind>(kind: K, params: PlanParams[K], wallet: string, chainId: number): PlanFlow =>
  make<PlanFlow>({
    ...base(wallet, chainId),
    ...{ kind, status: 'building', params: toJson(params), key: newId(), actionIds: [], position: 0 },
  })

/** Begins a deposit. Its chain is that of the opportunity. */
export const beginDeposit = (params: PlanParams['deposit']): PlanFlow => plan('deposit', params, params.userAddress, 0)

/** Begins a withdrawal; of an asynchronous vault the request of a redemption, or the claim of a settled one. */
export const beginWithdraw = (params: PlanParams['withdraw']): PlanFlow =>
  plan('withdraw', params, params.userAddress, 0)

/** Begins the claim of a settled deposit. */
export const beginClaim = (params: PlanParams['claim']): PlanFlow => plan('claim', params, params.userAddress, 0)

/** Begins the cancellation of a pending deposit. */
export const beginCancel = (params: PlanParams['cancel']): PlanFlow => plan('cancel', params, params.userAddress, 0)

/** Begins a swap. */
export const beginSwap = (params: PlanParams['swap']): PlanFlow => plan('swap', params, params.user, params.chainId)

/** Begins a swap order. */
export const beginOrder = (params: BuildSwapOrderParams): OrderFlow =>
  make<OrderFlow>({
    ...base(params.userAddress, params.chainId),
    ...{ kind: 'order', status: 'building', params: toJson(params) as OrderFlow['params'], key: newId(), position: 0 },
  })

/** Begins the claim of a reward stream. */
export const beginClaimRewards = ({ streamId, wallet }: { streamId: string; wallet: `0x${string}` }): ClaimFlow =>
  make<ClaimFlow>({ ...base(wallet, 0), kind: 'claimRewards', status: 'building', streamId })

/** Begins the membership of a wallet. `chainId`: where a contract wallet lives. */
export const beginJoin = (params: { wallet: `0x${string}`; chainId?: number; distributorId?: string }): JoinFlow => {
  const { wallet, chainId = 1, distributorId } = params
  return make<JoinFlow>({ ...base(wallet, chainId), kind: 'join', status: 'looking', distributorId })
}
