import type { EarnError, Reason } from '../../kernel/errors.js'

/** Refusals that may pass without any change to the request. */
const passingReasons: readonly Reason[] = ['NOT_CLAIMABLE', 'NO_ROUTE', 'SHARES_LOCKED']

/**
 * True when the same request may succeed later: the failure is ours, a limit's, or a state that moves by itself, or we say
 * when to come back.
 */
export function isRetryable(error: EarnError): boolean {
  if (error.reason !== undefined && passingReasons.includes(error.reason)) return true
  return error.code === 429 || error.code >= 500 || error.retryAfterSeconds !== undefined
}
