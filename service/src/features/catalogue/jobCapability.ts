import { isOld, type Observed } from './jobStates.js'
import type { CapabilityPush } from './storePushes.js'

/** What the catalogue should say of what vaults allow: where it changed, and where it was said too long ago. Pure. */
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
    capability.withdrawClosedReason === state.withdrawClosedReason
  )
}
