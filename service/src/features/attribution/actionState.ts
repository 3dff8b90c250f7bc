import type { ActionBody, transactionStates } from './schema.js'

/** The known state of the transaction of an action. */
export type Sighting =
  /** No node knows it, or a reorganisation took it back. */
  | { seen: 'nowhere' }
  /** It waits to be mined. */
  | { seen: 'pending' }
  | { seen: 'mined'; success: boolean; confirmed: boolean }

/**
 * The status of an action: built → submitted → verified | reverted | expired. The chain decides: a mined and confirmed
 * transaction is verified, however late; only a plan that was not sent in time has expired. Pure.
 */
export function decideActionStatus(sighting: Sighting, validUntil: Date, now: Date): ActionBody['status'] {
  if (sighting.seen === 'pending') return 'submitted'
  if (sighting.seen === 'nowhere') return now > validUntil ? 'expired' : 'built'
  if (!sighting.success) return 'reverted'
  return sighting.confirmed ? 'verified' : 'submitted'
}

/** The known state of one transaction of an action. */
export type TransactionState = (typeof transactionStates)[number]

/** Combines the transactions of an action: one that succeeded outweighs one that waits, which outweighs one that reverted. */
export function toSighting(states: readonly TransactionState[]): Sighting {
  if (states.includes('confirmed')) return { seen: 'mined', success: true, confirmed: true }
  if (states.includes('mined')) return { seen: 'mined', success: true, confirmed: false }
  if (states.includes('pending')) return { seen: 'pending' }
  return states.length > 0 ? { seen: 'mined', success: false, confirmed: true } : { seen: 'nowhere' }
}

/** True when a block is at least `confirmations` deep; the head itself is 1 deep. */
export function isConfirmed(blockNumber: number, headNumber: number, confirmations: number): boolean {
  return headNumber - blockNumber + 1 >= confirmations
}
