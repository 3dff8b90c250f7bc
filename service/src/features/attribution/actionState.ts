import type { ActionBody, transactionStates } from './schema.js'

/** What is known of the transaction an action led to. */
export type Sighting =
  /** No node knows it, or a reorganisation took it back. */
  | { seen: 'nowhere' }
  /** It waits to be mined. */
  | { seen: 'pending' }
  | { seen: 'mined'; success: boolean; confirmed: boolean }

/**
 * Where an action stands: built → submitted → verified | reverted | expired. The chain decides: what is mined and
 * confirmed is verified however long it took, and only a plan nobody sent in its time has expired. Pure.
 */
export function decideActionStatus(sighting: Sighting, validUntil: Date, now: Date): ActionBody['status'] {
  if (sighting.seen === 'pending') return 'submitted'
  if (sighting.seen === 'nowhere') return now > validUntil ? 'expired' : 'built'
  if (!sighting.success) return 'reverted'
  return sighting.confirmed ? 'verified' : 'submitted'
}

/** What one transaction of an action is known to be. */
export type TransactionState = (typeof transactionStates)[number]

/** What all transactions of an action come to: one that succeeded outweighs one that waits, and that one that reverted. */
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
