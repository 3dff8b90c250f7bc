import { invalidArgument } from '../../kernel/errors.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { findDistributor } from '../catalogue/index.js'
import { type Buckets, countBuckets, meetingBuckets } from './buckets.js'
import { readRange } from './range.js'
import { listDistributorVaults, type SeriesVault } from './storeVaults.js'

export type SeriesInput = {
  distributorId: string
  startDate: string
  endDate: string
  step?: number
  opportunityIds?: string[]
  productIds?: string[]
}

const stepDefault = 900
const bucketsMax = 50_000

/** The buckets of a distributor's series. */
export function readBuckets(input: SeriesInput, now: Date): Buckets {
  const { from, to } = readRange(input, now, { isYear: false })
  const buckets = meetingBuckets(input.step || stepDefault, from, to)
  assertFew(buckets, bucketsMax)
  return buckets
}

export function assertFew(buckets: Buckets, max: number): void {
  const count = countBuckets(buckets)
  if (count > max)
    throw invalidArgument(`the range has ${count} buckets at this step; ask for at most ${max}, or a larger step`)
}

export type SelectedVault = SeriesVault & { opportunityId: string }

/**
 * The vaults of the opportunities asked for in which a distributor ever had a lot; undefined where there is no such
 * distributor. Ids nobody knows select nothing.
 */
export async function selectVaults(
  { db, catalogue }: Pick<CatalogueContext, 'db' | 'catalogue'>,
  { distributorId, opportunityIds, productIds }: SeriesInput,
): Promise<SelectedVault[] | undefined> {
  const snapshot = catalogue.current()
  if (!findDistributor(snapshot, distributorId)) return undefined
  const asked = opportunityIds && new Set(opportunityIds.map((id) => id.toLowerCase()))
  const products = productIds?.map((id) => snapshot.productOpportunities.get(id.toLowerCase()))
  const selected: SelectedVault[] = []
  for (const vault of await listDistributorVaults(db, distributorId)) {
    const opportunity = snapshot.opportunitiesByVault.get(`${vault.chainId}:${vault.address}`)
    if (!opportunity) continue
    if (asked && !asked.has(opportunity.id)) continue
    if (products && !products.some((ids) => ids?.has(opportunity.id))) continue
    selected.push({ ...vault, opportunityId: opportunity.id })
  }
  return selected
}
