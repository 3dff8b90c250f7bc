import { isOld, type Observed } from './jobStates.js'
import type { CapabilityPush } from './storePushes.js'

/** The capabilities to push into the catalogue: changed ones, and those that were pushed too long ago. Pure. */
export function listCapabilityPushes(observed: readonly Observed[], now: Date): CapabilityPush[] {
  return observed
    .filter((each) => isOld(each.record.capability?.capabilityAt, now) || !isSame(each))
    .map(({ record, state: { figures, maxDeposit, ...allowed } }) => ({
      opportunityId: record.id,
      capability: { ...allowed, capabilityAt: now },
    }))
}

function isSame({ record: { capability }, state }: Observed): boolean {
  return (
    capability?.depositOpen === state.depositOpen &&
    capability.withdrawOpen === state.withdrawOpen &&
    capability.depositClosedReason === state.depositClosedReason &&
    capability.withdrawClosedReason === state.withdrawClosedReason &&
    capability.depositAtOnce === state.depositAtOnce &&
    capability.withdrawAtOnce === state.withdrawAtOnce
  )
}
