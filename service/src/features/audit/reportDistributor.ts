import type { Context } from '../../postgres/context.js'
import { findCoverage, listAttributedVaults, listLotTotals, listPricedSnapshots } from './storeReport.js'
import { computeUsdDays } from './usdDays.js'

export type DistributorReportRow = {
  opportunityId: string
  opportunityName: string
  chainId: number
  vaultAddress: string
  usdDays: string
  /** Part of the time in which shares were held without a known price. */
  unpricedMs: number
  /**
   * Shares at the block of the last snapshot before the end: in lots, outside them, and what the supply read there has
   * beyond both. Without a snapshot there is no supply to hold them against.
   */
  coverage: { attributed: bigint; unattributed: bigint; drift: bigint; supply: bigint | null }
}

/**
 * Attributed USD-days of a distributor per opportunity between two instants, with the coverage of each vault
 * (docs/methodology.md, Reconciliation and coverage). Time to come counts for nothing: the end is at most now.
 */
export async function reportDistributor(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  input: { distributorId: string; from: Date; to: Date },
): Promise<DistributorReportRow[]> {
  const { distributorId, from } = input
  const to = new Date(Math.min(input.to.getTime(), clock.now().getTime()))
  const rows: DistributorReportRow[] = []
  for (const vault of await listAttributedVaults(db, distributorId)) {
    const totals = await listLotTotals(db, { vaultId: vault.vaultId, distributorId, to })
    const snapshots = await listPricedSnapshots(db, { ...vault, from, to })
    const last = snapshots.at(-1)
    const held = await findCoverage(db, vault.vaultId, last ? { block: last.blockNumber } : { before: to })
    const { usdDays, unpricedMs } = computeUsdDays({
      shares: totals.map(({ at, shares }) => ({ atMs: at.getTime(), value: BigInt(shares) })),
      prices: snapshots.map(({ at, numerator, exponent, priceUsd }) => ({
        atMs: at.getTime(),
        value: { numerator: BigInt(numerator), exponent, priceUsd },
      })),
      assetDecimals: vault.assetDecimals,
      fromMs: from.getTime(),
      toMs: to.getTime(),
    })
    const supply = last ? BigInt(last.totalSupply) : null
    const [attributed, unattributed] = [BigInt(held.attributed), BigInt(held.unattributed)]
    const drift = supply === null ? 0n : supply - attributed - unattributed
    const { opportunityId, opportunityName, chainId, vaultAddress } = vault
    const coverage = { attributed, unattributed, drift, supply }
    rows.push({ opportunityId, opportunityName, chainId, vaultAddress, usdDays, unpricedMs, coverage })
  }
  return rows
}
