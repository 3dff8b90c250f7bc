import type { Queryable } from '../../kernel/database.js'
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
  /** Present shares: in lots, outside them, and what the newest known supply has beyond both. */
  coverage: { attributed: bigint; unattributed: bigint; drift: bigint; supply: bigint | null }
}

/** Attributed USD-days of a distributor per opportunity between two instants, with the coverage of each vault. */
export async function reportDistributor(
  db: Queryable,
  input: { distributorId: string; from: Date; to: Date },
): Promise<DistributorReportRow[]> {
  const { distributorId, from, to } = input
  const rows: DistributorReportRow[] = []
  for (const vault of await listAttributedVaults(db, distributorId)) {
    const totals = await listLotTotals(db, { vaultId: vault.vaultId, distributorId, to })
    const snapshots = await listPricedSnapshots(db, { ...vault, from, to })
    const held = await findCoverage(db, vault.vaultId)
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
    const last = snapshots.at(-1)
    const supply = last ? BigInt(last.totalSupply) : null
    const [attributed, unattributed] = [BigInt(held.attributed), BigInt(held.unattributed)]
    const drift = supply === null ? 0n : supply - attributed - unattributed
    const { opportunityId, opportunityName, chainId, vaultAddress } = vault
    const coverage = { attributed, unattributed, drift, supply }
    rows.push({ opportunityId, opportunityName, chainId, vaultAddress, usdDays, unpricedMs, coverage })
  }
  return rows
}
