import type { CapabilityRecord, OpportunityRow } from './records.js'

/**
 * Whether something can be done now, and the sentence for the user when it cannot (`''` when it can). `observed`: nobody
 * forbids it, but it was seen to fail for a wallet the vault does not know. One it knows may have more luck.
 */
export type Capability = { enabled: boolean; reason: string; observed: boolean }

export type Capabilities = { deposit: Capability; withdraw: Capability }

type Switches = Pick<
  OpportunityRow,
  'depositEnabled' | 'withdrawEnabled' | 'depositDisabledReason' | 'withdrawDisabledReason'
>

const enabled: Capability = { enabled: true, reason: '', observed: false }
const disabled = (...reasons: string[]): Capability => ({
  enabled: false,
  reason: reasons.find(Boolean) ?? '',
  observed: false,
})
const closed = (...reasons: string[]): Capability => ({ ...disabled(...reasons), observed: true })

const unplanned = 'This vault is listed and watched only.'

/**
 * Decides whether deposits and withdrawals are enabled: the operator's switch and the vault's own state must both allow them.
 * While the switch is off, the operator's reason is shown. `isPlanned`: false for a vault without plans. A vault that was
 * never read (`capability` null) forbids nothing. An unlisted opportunity takes no deposits, but allows withdrawals.
 */
export function decideCapabilities(
  listed: boolean,
  switches: Switches,
  capability: CapabilityRecord | null,
  isPlanned: boolean,
): Capabilities {
  const deposit = !listed
    ? disabled(switches.depositEnabled ? '' : switches.depositDisabledReason, 'This opportunity is no longer offered.')
    : !switches.depositEnabled
      ? disabled(switches.depositDisabledReason, 'Deposits are switched off by the operator.')
      : !isPlanned
        ? disabled(unplanned)
        : capability?.depositOpen === false
          ? closed(capability.depositClosedReason, 'The vault takes no deposits at present.')
          : enabled
  const withdraw = !switches.withdrawEnabled
    ? disabled(switches.withdrawDisabledReason, 'Withdrawals are switched off by the operator.')
    : !isPlanned
      ? disabled(unplanned)
      : capability?.withdrawOpen === false
        ? closed(capability.withdrawClosedReason, 'The vault allows no withdrawals at present.')
        : enabled
  return { deposit, withdraw }
}
