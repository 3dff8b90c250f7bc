import type { ActionBody, transactionStates } from './schema.js'

/** The state of one transaction of an action. */
export type TransactionState = (typeof transactionStates)[number]

/** A transaction that carries an action; `isMain` is false for a swap that only goes with the action's own call. */
export type CarrierState = { state: TransactionState; isMain: boolean }

/** Whether a block is at least `confirmations` deep; the head itself is 1 deep. */
export function isConfirmed(blockNumber: number, headNumber: number, confirmations: number): boolean {
  return headNumber - blockNumber + 1 >= confirmations
}

/** Where a transaction stands; `mined` is undefined while it waits. Pure. */
export function decideTransactionState(
  mined: { success: boolean } | undefined,
  isDeepEnough: boolean,
): TransactionState {
  if (!mined) return 'pending'
  if (!mined.success) return 'reverted'
  return isDeepEnough ? 'confirmed' : 'mined'
}

/**
 * Where an action stands: built → submitted → verified | reverted | expired. The chain decides: what is mined and confirmed
 * is verified however long it took, and one transaction that succeeded outweighs one that reverted. A swap that goes
 * with the call counts only while nobody has sent that call, and verifies nothing. `isLookedThrough` says that the action's time is
 * over and that it was looked for since: only then it has expired. Pure.
 */
export function decideActionStatus(
  carriers: readonly CarrierState[],
  { isLookedThrough }: { isLookedThrough: boolean },
): ActionBody['status'] {
  const main = carriers.filter(({ isMain }) => isMain)
  const deciding = main.length > 0 ? main : carriers
  if (main.some(({ state }) => state === 'confirmed')) return 'verified'
  if (deciding.some(({ state }) => state !== 'reverted')) return 'submitted'
  if (deciding.length > 0) return 'reverted'
  return isLookedThrough ? 'expired' : 'built'
}
