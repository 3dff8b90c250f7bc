import { computeLeast, computeUsdDays } from '../../derive/usdDays.js'
import type { Context } from '../../postgres/context.js'
import type { Database } from '../../postgres/pool.js'
import { findDepth } from '../../sync/storeDepths.js'
import { readPaidValues, toLevels } from '../paid/index.js'
import { findCoverage, listAttributedVaults, listLotLevels, listLotTotals } from './storeReport.js'

export type DistributorReportRow = {
  opportunityId: string
  opportunityName: string
  chainId: number
  vaultAddress: string
  usdDays: string
  /** Part of the time in which shares were held without a known price. */
  unpricedMs: number
  /** Part of the time in which shares counted by the least held since a snapshot, because a price could not be read. */
  unguardedMs: number
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
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  input: { distributorId: string; from: Date; to: Date },
): Promise<DistributorReportRow[]> {
  const { distributorId, from } = input
  const rows: DistributorReportRow[] = []
  for (const vault of await listAttributedVaults(db, distributorId)) {
    const { vaultId, assetDecimals, opportunityId, opportunityName, chainId, vaultAddress } = vault
    const confirmed = (await findDepth(db, chainId))?.confirmedAt ?? clock.now()
    const to = new Date(Math.min(input.to.getTime(), confirmed.getTime()))
    const totals = await listLotTotals(db, { vaultId, distributorId, to })
    const { values, snapshots } = await readPaidValues(db, { vaultId, from, to, carries: false })
    const last = snapshots.findLast(({ at }) => at < to)
    const held = await findCoverage(db, vaultId, last ? { block: last.blockNumber } : { before: to })
    const isGuarded = values.every((value) => value.isGuarded)
    const snapshotsMs = snapshots.map(({ at }) => at.getTime())
    const { total } = computeUsdDays({
      shares: totals.map(({ at, shares }) => ({ atMs: at.getTime(), value: BigInt(shares) })),
      least: isGuarded ? [] : await readLeast(db, { vaultId, distributorId, to }, snapshotsMs),
      prices: toLevels(values),
      assetDecimals,
      bounds: [from.getTime(), to.getTime()],
    })
    const supply = last ? BigInt(last.totalSupply) : null
    const [attributed, unattributed] = [BigInt(held.attributed), BigInt(held.unattributed)]
    const drift = supply === null ? 0n : supply - attributed - unattributed
    const coverage = { attributed, unattributed, drift, supply }
    rows.push({ opportunityId, opportunityName, chainId, vaultAddress, ...total, coverage })
  }
  return rows
}

/** The shares of a distributor that count where no price guards them. */
async function readLeast(
  db: Database,
  of: { vaultId: number; distributorId: string; to: Date },
  snapshotsMs: readonly number[],
) {
  const changes = await listLotLevels(db, of)
  return computeLeast(
    changes.map(({ at, wallet, after }) => ({ atMs: at.getTime(), key: wallet, after: BigInt(after) })),
    snapshotsMs,
  )
}
