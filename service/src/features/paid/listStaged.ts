import { countStaged, listFalls } from '../../derive/paidPrice.js'
import type { Queryable } from '../../postgres/pool.js'
import { readPaidPrices } from './paidSteps.js'
import { listVaultsWithMints } from './storePaid.js'

/** Snapshots of a vault after which shares were sold below their price. */
export type StagedVault = { chainId: number; vaultAddress: string; staged: number }

/**
 * The vaults with snapshots in a range after which the paid price fell by more than `stagedBps` hundredths of a percent: their
 * price was staged, or the vault lost. It changes no amount (docs/methodology.md). Vaults that minted nothing are not read.
 */
export async function listStaged(
  db: Queryable,
  { from, to, stagedBps }: { from: Date; to: Date; stagedBps: number },
): Promise<StagedVault[]> {
  const found: StagedVault[] = []
  for (const { vaultId, ...vault } of await listVaultsWithMints(db, { from, to })) {
    const { steps } = await readPaidPrices(db, { vaultId, from, to, skipsDust: true })
    const falls = listFalls(steps, { fromMs: from.getTime(), toMs: Number.POSITIVE_INFINITY })
    const staged = countStaged(falls, BigInt(stagedBps))
    if (staged > 0) found.push({ ...vault, staged })
  }
  return found
}
