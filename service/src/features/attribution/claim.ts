import type { Inspection } from '@openearn/attribution'
import { formatAddress } from '../catalogue/index.js'
import type { RecordedAttribution } from '../ledger/index.js'
import type { ActionRow } from '../plans/index.js'
import type { TrackingMetadata } from './schema.js'
import type { Statement } from './statements.js'

/** Who a transaction's calldata says brought it, and whether a key of ours vouches for it. */
export type Claim = Statement & { registered: boolean; signatureValid: boolean }

/** The first statement whose code is a registered distributor; else the first; undefined when there is none. Pure. */
export function findClaim(
  statements: readonly Statement[],
  isDistributor: (code: string) => boolean,
): Claim | undefined {
  const registered = statements.find(({ code }) => isDistributor(code))
  const chosen = registered ?? statements[0]
  return chosen && { ...chosen, registered: registered !== undefined, signatureValid: chosen.error === '' }
}

/**
 * What the payload says, `''` or 0 where it does not. Of a suffix that a key of ours signed, the action it names adds
 * what was asked for then.
 */
export function toMetadata({ said }: Claim, action: ActionRow | undefined): TrackingMetadata {
  if (!action) return said
  const { kind, opportunityId, tokenIn, amount, amountUsd, tokenInDecimals } = action
  return {
    ...said,
    action: kind,
    opportunityId: opportunityId ?? '',
    tokenIn: formatAddress(tokenIn),
    amount,
    amountUsd: amountUsd ?? '',
    tokenInDecimals,
  }
}

/** What became of the transaction itself, where that is not success. */
export function addState(inspection: Inspection, { mined }: { mined: { success: boolean } | undefined }): Inspection {
  const problem = !mined ? 'the transaction is not mined yet' : mined.success ? undefined : 'the transaction reverted'
  return problem === undefined ? inspection : { ...inspection, problems: [...inspection.problems, problem] }
}

/** What the watcher found wrong with a transaction, beside what its calldata alone shows; orphaned blocks say nothing. */
export function addProblems(inspection: Inspection, watched: readonly RecordedAttribution[]): Inspection {
  const known = [inspection, ...inspection.stacked].flatMap(({ problems }) => problems)
  const found = watched.filter(({ retracted }) => !retracted).flatMap(({ problems }) => problems)
  const fresh = [...new Set(found)].filter((problem) => !known.includes(problem))
  return fresh.length === 0 ? inspection : { ...inspection, problems: [...inspection.problems, ...fresh] }
}
