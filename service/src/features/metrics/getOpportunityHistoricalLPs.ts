import { formatTs } from '../../kernel/clock.js'
import { invalidArgument } from '../../kernel/errors.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { insideBuckets } from './buckets.js'
import { anyDistributor, everyHolder } from './changes.js'
import { listCounts } from './counts.js'
import { assertFew, readRange } from './selection.js'
import { hasLpFacts, readLps } from './storeLps.js'
import { findSeriesVault } from './storeVaults.js'

export type GetOpportunityHistoricalLPsInput = {
  chainId: number
  vaultAddress: string
  startDate: string
  endDate: string
  step?: number
}

const stepDefault = 900
const bucketsMax = 10_000
const reachMs = 365 * 86_400_000
/** A clock of the caller may be so far behind. */
const toleranceMs = 60_000

/** How many wallets hold a vault's receipt token, over time: what distributors brought, and all. */
export async function getOpportunityHistoricalLPs(ctx: CatalogueContext, input: GetOpportunityHistoricalLPsInput) {
  const { db, clock } = ctx
  const now = clock.now()
  const { from, to } = readRange(input, now)
  if (now.getTime() - from.getTime() > reachMs + toleranceMs)
    throw invalidArgument('startDate must be at most 365 days before now')
  const buckets = insideBuckets(input.step ?? stepDefault, from, to)
  assertFew(buckets, bucketsMax)
  const vault = await findSeriesVault(db, { chainId: input.chainId, address: input.vaultAddress.toLowerCase() })
  if (!vault || !(await hasLpFacts(db, vault.id))) return { data: [] }
  const [distributor, all] = await Promise.all(
    [anyDistributor, everyHolder].map((scope) => readLps(db, { scope, vaults: [vault] }, buckets)),
  )
  const brought = listCounts(buckets, distributor ?? [])
  return {
    data: listCounts(buckets, all ?? []).map(({ at, active, participated }, index) => ({
      timestamp: formatTs(at),
      distributor: {
        activeLps: brought[index]?.active ?? 0,
        participatedLps: brought[index]?.participated ?? 0,
      },
      all: { activeLps: active, participatedLps: participated },
    })),
  }
}
