import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import type { Reason } from '../../kernel/errors.js'
import type { ErrorMeaning } from '../../rpc/revert.js'
import type { Offer } from '../../vaults/index.js'
import type { OpportunityRecord } from '../catalogue/index.js'
import { insufficientBalance, refuse } from '../plans/index.js'

/** Refuses a deposit that the operator does not allow. The simulation checks again what the vault was last seen to refuse. */
export function assertDepositEnabled(
  { capabilities, isSecondaryMarket, ...opportunity }: OpportunityRecord,
  mode?: string,
): void {
  if (!capabilities.deposit.enabled && !capabilities.deposit.observed)
    throw refuse('DEPOSIT_DISABLED', capabilities.deposit.reason)
  if (isSecondaryMarket)
    throw refuse('DEPOSIT_DISABLED', 'shares of this vault are bought and sold on a market, not by the vault itself')
  if (mode !== 'swap' && !opportunity.directInteractionEnabled)
    throw refuse('DEPOSIT_DISABLED', 'this opportunity takes no direct deposits')
}

/** Refuses a withdrawal the operator does not allow, as above. */
export function assertWithdrawEnabled({ capabilities, isSecondaryMarket }: OpportunityRecord): void {
  if (!capabilities.withdraw.enabled && !capabilities.withdraw.observed)
    throw refuse('WITHDRAW_DISABLED', capabilities.withdraw.reason)
  if (isSecondaryMarket)
    throw refuse('WITHDRAW_DISABLED', 'shares of this vault are bought and sold on a market, not by the vault itself')
}

/** Refuses an amount worth less than the minimum; one without a price passes. */
export function assertMinimumUsd(minimumUsd: string, amountUsd: string | undefined): void {
  if (amountUsd === undefined) return
  if (parseDecimal(amountUsd, usdDecimals) >= parseDecimal(minimumUsd, usdDecimals)) return
  throw refuse('BELOW_MINIMUM', `the minimum deposit is ${minimumUsd} USD`, {
    minimumUsd: Number(minimumUsd),
    amountUsd: Number(amountUsd),
  })
}

/** Refuses fewer receipt tokens than the minimum, stated in whole units. */
export function assertMinimumShares(minimum: string, shares: bigint, decimals: number): void {
  if (shares >= parseDecimal(minimum, decimals)) return
  throw refuse('BELOW_MINIMUM', `the minimum withdrawal is ${minimum} receipt tokens`, {
    minimum: String(parseDecimal(minimum, decimals)),
  })
}

/** Refuses a vault that is not there, or not what it is listed as, or does not deal with the wallet. */
export function assertOffer(offer: Offer, closed: Reason): void {
  if (offer.closed !== undefined) throw refuse(closed, offer.closed)
  if (offer.refused) throw refuse(offer.refused.reason, offer.refused.why, offer.refused.context)
  if (offer.mismatch !== undefined) throw refuse('TOKEN_UNSUPPORTED', offer.mismatch)
}

/** The request to a vault, for the wording of its refusal. */
export type Asked = {
  offer: Offer
  /** The capability of the vault as last observed, for any wallet. */
  capability: OpportunityRecord['capabilities']['deposit']
  /** The reason of a vault that is closed. */
  closed: Reason
  amount: bigint
  decimals: number
}

/**
 * Why a call that was seen to revert does, as far as the vault says: closed for this wallet, more than its maximum, or
 * too little. The error itself comes first, where it is known. Vaults round their maximum down, answer 0 by design or
 * anything at all, so it explains and never decides.
 */
export function explainRevert(asked: Asked | undefined) {
  return (why: string, context: { transactionIndex: number }, means: ErrorMeaning | undefined): void => {
    if (means === 'waiting') throw refuse('NOT_CLAIMABLE', why, context)
    if (!asked) return
    const { offer, capability, closed, amount, decimals } = asked
    const { max, quoted } = offer
    if (means === 'closed') throw refuse(closed, why, context)
    if (means === 'tooSmall') throw refuse('BELOW_MINIMUM', why, context)
    if (means === 'capped' && (max === undefined || max === 0n || amount <= max))
      throw refuse('CAP_EXCEEDED', why, context)
    if (!capability.enabled) throw refuse(closed, `${withoutStop(capability.reason)}: ${why}`, context)
    if (max === 0n) throw refuse(closed, `the vault allows nothing to this wallet at present: ${why}`, context)
    if (max !== undefined && amount > max)
      throw refuse('CAP_EXCEEDED', `the vault allows at most ${formatUnits(max, decimals)} at present: ${why}`, {
        ...context,
        maximum: String(max),
      })
    if (quoted === 0n) throw refuse('BELOW_MINIMUM', tooSmall, context)
  }
}

/** Refuses, where nothing could be simulated, what was last seen to fail and what the vault quotes nothing for. */
export function assertUnsimulated({ offer, capability, closed }: Asked) {
  return (): void => {
    if (!capability.enabled) throw refuse(closed, capability.reason)
    if (offer.quoted === 0n) throw refuse('BELOW_MINIMUM', tooSmall)
  }
}

const tooSmall = 'the amount is too small: it would return nothing'

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/** Refuses an amount the wallet does not have, or has asked the vault for already. */
export function assertBalance(balance: bigint | undefined, amount: bigint, awaited = 0n): void {
  if (balance !== undefined && balance >= amount) return
  if (awaited >= amount)
    throw refuse('NOT_CLAIMABLE', 'the redemption is still pending; the vault has not settled it yet')
  throw insufficientBalance(balance ?? 0n, amount)
}

/** Refuses a simulated outcome in which the wallet spends something else than was asked for, or gets nothing. */
export function assertOutcome(
  call: { spends: { token: string; amount: bigint } | undefined; gains: string | undefined },
  changeOf: (token: string) => bigint | undefined,
): void {
  if (call.spends && changeOf(call.spends.token) !== -call.spends.amount)
    throw refuse('TOKEN_UNSUPPORTED', 'the vault would take a different amount or a different token than requested')
  if (call.gains && (changeOf(call.gains) ?? 0n) <= 0n) throw refuse('BELOW_MINIMUM', tooSmall)
}
