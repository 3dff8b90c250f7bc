import { invalidArgument } from '../../kernel/errors.js'
import { readNows } from '../../sync/storeNow.js'
import { type CatalogueContext, type CatalogueSnapshot, findDistributor } from '../catalogue/index.js'
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

/** The range of a distributor's series, and its buckets. */
export function readBuckets(input: SeriesInput, now: Date): { buckets: Buckets; range: { from: Date; to: Date } } {
  const range = readRange(input, now, { isYear: false })
  const buckets = meetingBuckets(input.step || stepDefault, range.from, range.to)
  assertFew(buckets, bucketsMax)
  return { buckets, range }
}

export function assertFew(buckets: Buckets, max: number): void {
  const count = countBuckets(buckets)
  if (count > max)
    throw invalidArgument(`the range has ${count} buckets at this step; ask for at most ${max}, or a larger step`)
}

/** A distributor's series as it is asked for: its vaults, if there is such a distributor, its range and buckets, and now on their chains. */
export type SelectedSeries = ReturnType<typeof readBuckets> & { vaults: SelectedVault[] | undefined; now: Date }

/** Selects the vaults of a series, whose chains tell what now is. @throws EarnError 400 */
export async function selectSeries(
  ctx: Pick<CatalogueContext, 'db' | 'catalogue' | 'clock'>,
  input: SeriesInput,
): Promise<SelectedSeries> {
  const [vaults, nowOf] = await Promise.all([selectVaults(ctx, input), readNows(ctx)])
  const now = nowOf((vaults ?? []).map(({ chainId }) => chainId))
  return { ...readBuckets(input, now), vaults, now }
}

export type SelectedVault = SeriesVault & { opportunityId: string }

/**
 * The vaults of the opportunities asked for in which a distributor ever had a lot; undefined where there is no such
 * distributor. Ids nobody knows select nothing.
 */
export async function selectVaults(
  { db, catalogue }: Pick<CatalogueContext, 'db' | 'catalogue'>,
  input: SeriesInput,
): Promise<SelectedVault[] | undefined> {
  const snapshot = catalogue.current()
  if (!findDistributor(snapshot, input.distributorId)) return undefined
  const isAsked = openFilter(snapshot, input)
  const selected: SelectedVault[] = []
  for (const vault of await listDistributorVaults(db, input.distributorId)) {
    const opportunity = snapshot.opportunitiesByVault.get(`${vault.chainId}:${vault.address}`)
    if (opportunity && isAsked(opportunity.id)) selected.push({ ...vault, opportunityId: opportunity.id })
  }
  return selected
}

/** The chains of the opportunities asked for, whether or not a distributor has a lot there. */
export function listAskedChains({ catalogue }: Pick<CatalogueContext, 'catalogue'>, input: Filter): number[] {
  const snapshot = catalogue.current()
  const isAsked = openFilter(snapshot, input)
  const asked = [...snapshot.opportunities.values()].filter(({ id }) => isAsked(id))
  return [...new Set(asked.map(({ chainId }) => chainId))]
}

type Filter = Pick<SeriesInput, 'opportunityIds' | 'productIds'>

/** Whether an opportunity is one of those asked for. */
function openFilter(snapshot: CatalogueSnapshot, { opportunityIds, productIds }: Filter): (id: string) => boolean {
  const asked = opportunityIds && new Set(opportunityIds.map((id) => id.toLowerCase()))
  const products = productIds?.map((id) => snapshot.productOpportunities.get(id.toLowerCase()))
  return (id) => (!asked || asked.has(id)) && (!products || products.some((ids) => ids?.has(id)))
}
