import { EarnError } from '../../kernel/errors.js'
import type { Alternative } from '../../vaults/index.js'
import { buildApprovals, type Step, type Target } from '../plans/index.js'
import { partyOf } from './draft.js'

/** Whether a plan was refused because its simulation reverted. */
export function wouldRevert(error: unknown): boolean {
  return error instanceof EarnError && 'transactionIndex' in error.context
}

/** The approval of exactly the shares, where the vault takes them by allowance. */
export function buildPull({ pulls }: Alternative, target: Target): Step[] {
  if (!pulls) return []
  const { token, spender, amount, allowance } = pulls
  const spenderParty = { ...partyOf(target), address: spender }
  const { receiptToken } = target.opportunity
  return buildApprovals({ token: receiptToken, tokenAddress: token, spender, spenderParty, amount, allowance })
}
