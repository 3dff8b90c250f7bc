import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import type { PlannedKind, VaultCall, WithdrawAsk, WithdrawOffer } from '../../vaults/index.js'
import type { DistributorRecord, TokenRecord } from '../catalogue/index.js'
import type { Draft, Step, Target } from '../plans/index.js'
import { buildPull, wouldRevert } from './alternative.js'
import { draftOf } from './draft.js'
import type { WithdrawInput } from './schema.js'

/** A withdrawal as it was asked for. */
export type Withdrawal = {
  target: Target & { distributor: DistributorRecord }
  input: WithdrawInput
  kind: PlannedKind
  shares: bigint
  requestIds: readonly bigint[]
}

/** What is asked of the vault, paid in a token. */
export function toWithdrawAsk(
  { target: { vault, wallet }, input, shares, requestIds }: Withdrawal,
  tokenOut: WithdrawAsk['tokenOut'],
): WithdrawAsk {
  return { vault, wallet, shares, tokenOut, slippageBps: input.slippageBps ?? 50, requestIds }
}

/** How the vault makes a withdrawal: the call, and the transactions that it needs before it. */
export type Way = { call: VaultCall; before: readonly Step[] }

/** Does the work with the call that the vault offers; where that is seen to revert, with its other one. */
export async function tryWays<T>(
  { call, instead }: WithdrawOffer,
  target: Target,
  work: (way: Way) => Promise<T>,
): Promise<T> {
  try {
    return await work({ call, before: [] })
  } catch (error) {
    if (!instead || !wouldRevert(error)) throw error
    return work({ call: instead.call, before: buildPull(instead, target) })
  }
}

/** The draft of a withdrawal: what comes before, and the vault's call. `out`: what the vault pays. */
export function draftWithdrawal(
  { target, kind, shares }: Withdrawal,
  { call, before }: Way,
  at: {
    chain: Chain
    block: Header | undefined
    offer: WithdrawOffer
    out: TokenRecord
    amountUsd: string | undefined
    swaps?: boolean
  },
): Draft {
  const { offer, ...facts } = at
  const { receiptToken, capabilities } = target.opportunity
  return draftOf(call, {
    ...facts,
    type: 'withdraw',
    target,
    kind,
    before,
    token: receiptToken,
    amount: shares,
    offered: { offer, capability: capabilities.withdraw, closed: 'WITHDRAW_DISABLED' },
  })
}
