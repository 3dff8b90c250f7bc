import type { Inspection } from '@openearn/attribution'
import { formatAddress } from '../../wallets/format.js'
import type { RecordedAttribution } from '../ledger/index.js'
import type { ActionRow } from '../plans/index.js'
import type { TrackingMetadata } from './schema.js'
import type { Statement } from './statements.js'

/** Who a transaction's calldata says brought it, and whether a key of ours vouches for it. */
export type Claim = Statement & { registered: boolean; signatureValid: boolean }

/** The first statement whose code is a registered distributor; else the first; undefined without statements. Pure. */
export function findClaim(
  statements: readonly Statement[],
  isDistributor: (code: string) => boolean,
): Claim | undefined {
  const registered = statements.find(({ code }) => isDistributor(code))
  const chosen = registered ?? statements[0]
  return chosen && { ...chosen, registered: registered !== undefined, signatureValid: chosen.error === '' }
}

/**
 * The members of the payload; `''` or 0 for missing ones. If a key of ours signed the suffix, the action it names adds the
 * members of its request.
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

/** Adds the state of the transaction, if it did not succeed. */
export function addState(inspection: Inspection, { mined }: { mined: { success: boolean } | undefined }): Inspection {
  const problem = !mined ? 'the transaction is not mined yet' : mined.success ? undefined : 'the transaction reverted'
  return problem === undefined ? inspection : { ...inspection, problems: [...inspection.problems, problem] }
}

/** Adds the watcher's problems with a transaction to those of its calldata; records of orphaned blocks are ignored. */
export function addProblems(inspection: Inspection, watched: readonly RecordedAttribution[]): Inspection {
  const known = [inspection, ...inspection.stacked].flatMap(({ problems }) => problems)
  const found = watched.filter(({ retracted }) => !retracted).flatMap(({ problems }) => problems)
  const fresh = [...new Set(found)].filter((problem) => !known.includes(problem))
  return fresh.length === 0 ? inspection : { ...inspection, problems: [...inspection.problems, ...fresh] }
}
