import type { Chain } from '../../rpc/chains.js'
import type { Header } from '../../rpc/raw.js'
import {
  decideByTrial,
  findVaultKind,
  readVaultStates,
  toVault,
  tryVaults,
  type VaultState,
} from '../../vaults/index.js'
import type { OpportunityRecord } from './opportunityRecord.js'

/** An opportunity, and what its vault was seen to hold and allow. */
export type Observed = { record: OpportunityRecord; state: VaultState }

/** An unchanged figure is written again after this long, so that its age shows. */
const freshSeconds = 60

/** True for what was never written, or too long ago. */
export function isOld(at: Date | null | undefined, now: Date): boolean {
  return !at || now.getTime() - at.getTime() >= freshSeconds * 1000
}

/** What the vaults hold and allow by their own word, all at one block. */
export async function readStates(
  chain: Chain,
  opportunities: readonly OpportunityRecord[],
  block: Header,
): Promise<Observed[]> {
  const states = await readVaultStates(
    chain,
    opportunities.map(({ vault }) => vault),
    block.hash,
  )
  return opportunities.flatMap((record, index) => {
    const state = states[index]
    return state ? [{ record, state }] : []
  })
}

/** What the vaults allow is tried: a deposit and its redemption, by a wallet nobody knows. */
export async function tryStates(chain: Chain, read: readonly Observed[], block: Header): Promise<Observed[]> {
  const tried = read.flatMap(({ record, state }, index) => {
    const kind = findVaultKind(record.vault.kind)
    return kind ? [{ index, vault: toVault(record.vault), kind, state }] : []
  })
  const trials = await tryVaults(chain, tried, block)
  const byIndex = new Map(tried.map(({ index }, at) => [index, trials[at]]))
  return read.map(({ record, state }, index) => {
    const trial = byIndex.get(index)
    return { record, state: trial ? decideByTrial(state, trial) : state }
  })
}
