import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import type { Context } from '../../postgres/context.js'
import { listCountedReach, readUsdDays } from '../metrics/index.js'
import { findCoverage, listAttributedVaults } from './storeReport.js'

export type DistributorReportRow = {
  vaultId: number
  opportunityId: string
  opportunityName: string
  chainId: number
  vaultAddress: string
  usdDays: string
  /** Part of the time in which shares were held without a known price. */
  unpricedMs: number
  /** Part of the time in which shares counted by the least held since a snapshot, because a price could not be read. */
  unguardedMs: number
  /** Snapshots after which the vault sold shares below their price by more than `stagedBps`. */
  staged: number
  /** A block at which the share price has to be read was not tried yet. */
  isAwaited: boolean
  /**
   * Shares at the block of the last snapshot before the end: in lots, outside them, and what the supply read there has
   * beyond both. Without a snapshot there is no supply to hold them against.
   */
  coverage: { attributed: bigint; unattributed: bigint; drift: bigint; supply: bigint | null }
}

/**
 * Attributed USD-days of a distributor per opportunity between two instants, with the coverage of each vault
 * (docs/methodology.md, USD-days). Time to come counts for nothing: the end is at most the newest confirmed block of the chain.
 */
export async function reportDistributor(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { distributorId, from, to }: { distributorId: string; from: Date; to: Date },
): Promise<DistributorReportRow[]> {
  const vaults = await listAttributedVaults(db, distributorId)
  const reach = await listCountedReach(db, [...new Set(vaults.map(({ chainId }) => chainId))])
  const endOf = (chainId: number) =>
    Math.min(to.getTime(), reach.get(chainId)?.confirmedAt?.getTime() ?? from.getTime())
  const boundsOf = (chainId: number) => [from.getTime(), Math.max(from.getTime(), endOf(chainId))]
  const counted = await readUsdDays(db, { distributorId, vaults, boundsOf, stagedBps: config.stagedBps })
  const rows: DistributorReportRow[] = []
  for (const { vault, found } of counted) {
    const { vaultId, opportunityId, opportunityName, chainId, vaultAddress } = vault
    const { total, last, staged, isAwaited } = found
    const held = await findCoverage(
      db,
      vaultId,
      last ? { block: last.blockNumber } : { before: new Date(endOf(chainId)) },
    )
    const supply = last ? BigInt(last.totalSupply) : null
    const [attributed, unattributed] = [BigInt(held.attributed), BigInt(held.unattributed)]
    const drift = supply === null ? 0n : supply - attributed - unattributed
    const usdDays = formatUnits(total.usdDays, usdDecimals)
    const coverage = { attributed, unattributed, drift, supply }
    rows.push({
      vaultId,
      opportunityId,
      opportunityName,
      chainId,
      vaultAddress,
      ...total,
      usdDays,
      staged,
      isAwaited,
      coverage,
    })
  }
  return rows
}
