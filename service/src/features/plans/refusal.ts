import { type EarnError, invalidArgument, type Reason } from '../../kernel/errors.js'

/** The 400 of a wallet that does not hold what it would give. */
export function insufficientBalance(balance: bigint, amount: bigint): EarnError {
  return refuse('INSUFFICIENT_BALANCE', 'insufficient token balance', {
    balance: String(balance),
    amount: String(amount),
  })
}

/** A 400 that names why an action cannot be built, in a word for programs and a sentence for people. */
export function refuse(reason: Reason, message: string, context: Record<string, unknown> = {}): EarnError {
  return invalidArgument(message, { reason, context })
}
