import { decideByTrial, type Trial, tryVaults } from '../../probing/index.js'
import { readHead } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { findVaultKind, readVaultStates, toVault, type VaultState } from '../../vaults/index.js'
import type { OpportunityRecord } from './opportunityRecord.js'

/** An opportunity, and what its vault was seen to hold and allow. */
export type Observed = { record: OpportunityRecord; state: VaultState }

/** An unchanged figure is written again after this long, so that its age shows. */
const freshSeconds = 60

/** True for what was never written, or too long ago. */
export function isOld(at: Date | null | undefined, now: Date): boolean {
  return !at || now.getTime() - at.getTime() >= freshSeconds * 1000
}

/** The holdings and limits that vaults report, at the newest block. */
export async function readStates(chain: Chain, opportunities: readonly OpportunityRecord[]): Promise<Observed[]> {
  const states = await readVaultStates(
    chain,
    opportunities.map(({ vault }) => vault),
  )
  return opportunities.flatMap((record, index) => {
    const state = states[index]
    return state ? [{ record, state }] : []
  })
}

/** The results of trials, by opportunity, with the figures read then: a trial costs a node far more than a reading. */
export type KeptTrials = Map<string, KeptTrial>

/** `worked` is of the last try alone: one that concluded nothing is made again as soon as one that failed. */
type KeptTrial = { read: string; triedAt: Date; worked: boolean; trial: Trial }

/** A vault that works is tried again after an hour, another after ten minutes; both at once where it says something else. */
const [workingSeconds, otherSeconds] = [3_600, 600]

/**
 * Tries the vaults: a deposit and its redemption, by an unknown wallet. If a vault was tried recently and its figures are the
 * same, the earlier result is used.
 */
export async function tryStates(
  chain: Chain,
  read: readonly Observed[],
  kept: KeptTrials,
  now: Date,
): Promise<Observed[]> {
  const due = read.flatMap(({ record, state }) => {
    const kind = findVaultKind(record.vault.kind)
    return kind && isDue(kept.get(record.id), describeRead({ record, state }), now)
      ? [{ vault: toVault(record.vault), kind, state, record }]
      : []
  })
  // A node is asked for its head only where something is tried.
  const trials = due.length === 0 ? [] : await tryVaults(chain, due, await readHead(chain))
  for (const [index, { record, state }] of due.entries()) {
    const trial = trials[index]
    if (!trial) continue
    const said = describeRead({ record, state })
    const last = kept.get(record.id)
    // If no node could run the trial this time, the earlier result stays.
    const before = last?.read === said ? last.trial : undefined
    const [deposit, withdraw] = [trial.deposit ?? before?.deposit, trial.withdraw ?? before?.withdraw]
    const worked = trial.deposit?.works === true && trial.withdraw?.works === true
    kept.set(record.id, { read: said, triedAt: now, worked, trial: { ...trial, deposit, withdraw } })
  }
  return read.map(({ record, state }) => {
    const found = kept.get(record.id)
    return { record, state: found ? decideByTrial(state, found.trial) : state }
  })
}

function isDue(last: KeptTrial | undefined, read: string, now: Date): boolean {
  if (!last || last.read !== read) return true
  return now.getTime() - last.triedAt.getTime() >= (last.worked ? workingSeconds : otherSeconds) * 1_000
}

/** The figures of a vault whose change makes another trial worth its cost. */
function describeRead({ record: { vault }, state }: Observed): string {
  return JSON.stringify([
    ...[vault.address, vault.kind, state.depositOpen, state.depositClosedReason],
    ...[state.withdrawOpen, state.withdrawClosedReason],
    ...[state.maxDeposit === 0n, state.figures === undefined, state.figures?.totalSupply === 0n],
  ])
}
