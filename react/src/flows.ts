'use client'

import type { types } from '@openearn/sdk'
import type { ClaimFlow, Flow, JoinFlow, OrderFlow, PlanFlow, Word } from '@openearn/sdk/flows'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { useEarnContext } from './context.js'
import { type Engine, getNothing, type Slot } from './slot.js'

export type FlowOptions = {
  /** Hooks of one kind with the same slot show the same flow, which a reload goes on with; the kind unless given. */
  slot?: string | undefined
  /**
   * The wallet is asked only after a word about each request: the flow stops at `ready`, where `flow.sentences` say what will be
   * signed, and `needs` is `go`.
   */
  review?: boolean | undefined
}

/** A flow of one kind, and what can be said to it. The functions stay the same. */
export type FlowHandle<F extends Flow, P> = {
  /** The state, plain data; undefined where none was begun. */
  flow: F | undefined
  /** The word that the user is asked for. */
  needs: Word | undefined
  /** Why the flow could not be run at all: its program did not load, or the store is full. */
  error: unknown
  /** Begins; false where one is under way. What has not come to its end has to be forgotten first. */
  begin(params: P): boolean
  /** Says the word that `needs` names; another one says nothing. */
  say(word: Word): void
  /** The flow is shown no longer, nor after a reload. What the wallet was asked for may happen all the same. */
  forget(): void
}

/** Each flow is begun with the parameters of its operation. */
export type DepositParams = Omit<types.CreateDepositInteractionParams, 'simulate'>
export type WithdrawParams = Omit<types.CreateWithdrawInteractionParams, 'simulate'>
export type ClaimParams = Omit<types.CreateClaimDepositInteractionParams, 'simulate'>
export type CancelParams = Omit<types.CreateCancelDepositInteractionParams, 'simulate'>
export type SwapParams = Omit<types.GetSwapParams, 'simulate'>
export type OrderParams = types.BuildSwapOrderParams
export type ClaimRewardsParams = { streamId: string; wallet: `0x${string}` }
/** `chainId`: where a contract wallet lives. */
export type JoinParams = { wallet: `0x${string}`; chainId?: number; distributorId?: string }

/** The names of the sdk's functions that begin a flow. */
type Begin = Extract<keyof Engine, `begin${string}`>

function useSlot<F extends Flow, P>(
  kind: F['kind'],
  begin: Begin,
  { slot: name = kind, review = false }: FlowOptions = {},
): { slot: Slot; handle: FlowHandle<F, P> } {
  const { openSlot } = useEarnContext()
  const slot = openSlot(name, kind)
  const state = useSyncExternalStore(slot.subscribe, slot.getState, getNothing)
  useEffect(() => slot.setReview(review), [slot, review])
  const words = useMemo(
    () => ({
      begin: (params: P) => slot.begin((engine) => engine[begin](params as never)),
      say: slot.say,
      forget: slot.forget,
    }),
    [slot, begin],
  )
  return { slot, handle: { ...(state as typeof state & { flow: F | undefined }), ...words } }
}

/** Deposits into a vault. */
export const useDeposit = (options?: FlowOptions): FlowHandle<PlanFlow, DepositParams> =>
  useSlot<PlanFlow, DepositParams>('deposit', 'beginDeposit', options).handle

/** Withdraws from a vault; at an asynchronous one requests a redemption, or claims a settled one. */
export const useWithdraw = (options?: FlowOptions): FlowHandle<PlanFlow, WithdrawParams> =>
  useSlot<PlanFlow, WithdrawParams>('withdraw', 'beginWithdraw', options).handle

/** Claims the shares of a settled deposit. */
export const useClaim = (options?: FlowOptions): FlowHandle<PlanFlow, ClaimParams> =>
  useSlot<PlanFlow, ClaimParams>('claim', 'beginClaim', options).handle

/** Cancels a pending deposit. */
export const useCancel = (options?: FlowOptions): FlowHandle<PlanFlow, CancelParams> =>
  useSlot<PlanFlow, CancelParams>('cancel', 'beginCancel', options).handle

/** Swaps. */
export const useSwap = (options?: FlowOptions): FlowHandle<PlanFlow, SwapParams> =>
  useSlot<PlanFlow, SwapParams>('swap', 'beginSwap', options).handle

/** Claims the reward of a stream. */
export const useClaimRewards = (options?: FlowOptions): FlowHandle<ClaimFlow, ClaimRewardsParams> =>
  useSlot<ClaimFlow, ClaimRewardsParams>('claimRewards', 'beginClaimRewards', options).handle

/** Links a wallet to an account, which a first deposit needs. */
export const useJoin = (options?: FlowOptions): FlowHandle<JoinFlow, JoinParams> =>
  useSlot<JoinFlow, JoinParams>('join', 'beginJoin', options).handle

/** A handle of an order, which can be ended. */
export type OrderHandle = FlowHandle<OrderFlow, OrderParams> & {
  /** Asks the wallet for the transaction that ends the order. Rejects where the wallet is not there, or says no. */
  cancel(): Promise<void>
}

/** Signs an order that is filled later. */
export function useOrder(options?: FlowOptions): OrderHandle {
  const { slot, handle } = useSlot<OrderFlow, OrderParams>('order', 'beginOrder', options)
  return { ...handle, cancel: slot.cancel }
}
