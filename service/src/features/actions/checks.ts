import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import type { Reason } from '../../kernel/errors.js'
import type { Offer } from '../../vaults/index.js'
import type { OpportunityRecord } from '../catalogue/index.js'
import { refuse } from './refusal.js'

/** Refuses a deposit the operator or the vault's last known state does not allow. */
export function assertDepositEnabled({ capabilities, isSecondaryMarket, ...opportunity }: OpportunityRecord): void {
  if (!capabilities.deposit.enabled) throw refuse('DEPOSIT_DISABLED', capabilities.deposit.reason)
  if (isSecondaryMarket)
    throw refuse('DEPOSIT_DISABLED', 'shares of this vault are bought and sold on a market, not by the vault itself')
  if (!opportunity.directInteractionEnabled)
    throw refuse('DEPOSIT_DISABLED', 'this opportunity takes no direct deposits')
}

/** Refuses a withdrawal the operator or the vault's last known state does not allow. */
export function assertWithdrawEnabled({ capabilities, isSecondaryMarket }: OpportunityRecord): void {
  if (!capabilities.withdraw.enabled) throw refuse('WITHDRAW_DISABLED', capabilities.withdraw.reason)
  if (isSecondaryMarket)
    throw refuse('WITHDRAW_DISABLED', 'shares of this vault are bought and sold on a market, not by the vault itself')
}

/** Refuses an amount worth less than the minimum; one without a price passes. */
export function assertMinimumUsd(minimumUsd: string, amountUsd: string | undefined): void {
  if (amountUsd === undefined) return
  if (parseDecimal(amountUsd, usdDecimals) >= parseDecimal(minimumUsd, usdDecimals)) return
  throw refuse('BELOW_MINIMUM', `the least that can be deposited is worth ${minimumUsd} USD`, {
    minimumUsd: Number(minimumUsd),
    amountUsd: Number(amountUsd),
  })
}

/** Refuses fewer receipt tokens than the minimum, stated in whole units. */
export function assertMinimumShares(minimum: string, shares: bigint, decimals: number): void {
  if (shares >= parseDecimal(minimum, decimals)) return
  throw refuse('BELOW_MINIMUM', `the least that can be withdrawn is ${minimum} receipt tokens`, {
    minimum: String(parseDecimal(minimum, decimals)),
  })
}

/**
 * Refuses what the vault itself does not allow now: closed, not what it is listed as, an amount so small that it gives
 * nothing, or more than it takes.
 */
export function assertOffer(offer: Offer, closed: Reason, amount: bigint, decimals: number): void {
  if (offer.closed !== undefined) throw refuse(closed, offer.closed)
  if (offer.mismatch !== undefined) throw refuse('TOKEN_UNSUPPORTED', offer.mismatch)
  if (offer.quoted === 0n) throw refuse('BELOW_MINIMUM', 'the amount is so small that nothing would be given for it')
  if (offer.max === undefined || amount <= offer.max) return
  throw refuse('CAP_EXCEEDED', `the vault allows at most ${formatUnits(offer.max, decimals)} at present`, {
    maximum: String(offer.max),
  })
}

/** Refuses an amount the wallet does not have, or has asked the vault for already. */
export function assertBalance(balance: bigint | undefined, amount: bigint, awaited = 0n): void {
  if (balance !== undefined && balance >= amount) return
  if (awaited >= amount)
    throw refuse('NOT_CLAIMABLE', 'the redemption is still pending; the vault has not settled it yet')
  throw refuse('INSUFFICIENT_BALANCE', 'insufficient token balance', {
    balance: String(balance ?? 0n),
    amount: String(amount),
  })
}

/** Refuses a simulated outcome in which the wallet spends something else than was asked for, or gets nothing. */
export function assertOutcome(
  call: { spends: { token: string; amount: bigint } | undefined; gains: string | undefined },
  changeOf: (token: string) => bigint | undefined,
): void {
  if (call.spends && changeOf(call.spends.token) !== -call.spends.amount)
    throw refuse('TOKEN_UNSUPPORTED', 'the vault would take another amount or another token than was asked for')
  if (call.gains && (changeOf(call.gains) ?? 0n) <= 0n)
    throw refuse('BELOW_MINIMUM', 'the amount is so small that nothing would be given for it')
}
