import { formatTs } from '../../kernel/clock.js'
import { readNow } from '../../sync/storeNow.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { insideBuckets } from './buckets.js'
import { anyDistributor, everyHolder } from './changes.js'
import { listCounts } from './counts.js'
import { readRange } from './range.js'
import { assertFew } from './selection.js'
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

/** How many wallets hold a vault's receipt token, over time: of positions that distributors brought, and of all. */
export async function getOpportunityHistoricalLPs(ctx: CatalogueContext, input: GetOpportunityHistoricalLPsInput) {
  const { db } = ctx
  const { from, to } = readRange(input, await readNow(ctx, input.chainId))
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
