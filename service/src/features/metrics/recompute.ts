import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { formatTs, fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import { invalidArgument } from '../../kernel/errors.js'
import type { Queryable } from '../../postgres/pool.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { anyDistributor, everyHolder } from './changes.js'
import { getDistributorLPs } from './getDistributorLPs.js'
import { readSeries } from './getDistributorMetrics.js'
import { getOpportunityHistoricalLPs } from './getOpportunityHistoricalLPs.js'
import { readInstant } from './range.js'
import { type CountedVault, type Holding, type Recount, recountHoldings, valueShares } from './recount.js'
import { selectVaults } from './selection.js'
import { listMetricsVaults } from './storeConfiguration.js'
import { type HoldingChange, listSnapshotsBefore, streamHoldings } from './storeRecount.js'
import { stepSeconds } from './storeSteps.js'
import { findSeriesVault, listVaultFloors, type SeriesVault } from './storeVaults.js'

/** One served bucket counted again from the changes of holdings. `equal` where it is what is served, to the digit. */
export type RecomputedBucket = {
  what: 'lps' | 'metrics'
  /** The bucket's first and last second. */
  from: string
  to: string
  inputs: Record<string, unknown>[]
  arithmetic: string[]
  recomputed: unknown
  served: unknown
  equal: boolean
}

type Bucket = { step: number; start: number; end: number }

/** The bucket that begins at an instant, or holds it. */
function toBucket(at: string, step: number): Bucket {
  const start = Math.floor(toUnixSeconds(readInstant(at, 'at')) / step) * step
  return { step, start, end: start + step }
}

type OfDistributor = { distributorId: string; at: string; step?: number }

/** A bucket of a distributor, how it is asked for, and the vaults it is of. Throws 400. */
async function select(ctx: CatalogueContext, { distributorId, at, step }: Required<OfDistributor>) {
  const bucket = toBucket(at, step)
  const query = toQuery(distributorId, bucket)
  const vaults = await selectVaults(ctx, query)
  if (!vaults) throw invalidArgument('there is no such distributor in the catalogue')
  return { bucket, query, vaults }
}

/** The attributed TVL of a distributor at the end of a bucket, from the changes of its lots and the newest snapshots. */
export async function recomputeMetrics(
  ctx: CatalogueContext,
  { distributorId, at, step = stepSeconds }: OfDistributor,
): Promise<RecomputedBucket> {
  const { bucket, query, vaults } = await select(ctx, { distributorId, at, step })
  const ids = vaults.map(({ id }) => id)
  const [recount, snapshots] = await Promise.all([
    recountScope(ctx.db, vaults, distributorId, bucket.end),
    listSnapshotsBefore(ctx.db, ids, bucket.end),
  ])
  let sum = 0n
  const [inputs, arithmetic]: [Record<string, unknown>[], string[]] = [[], []]
  for (const { id, chainId, address, assetDecimals, opportunityId } of vaults) {
    const own = recount.vaults.get(id)
    const snapshot = snapshots.find(({ vaultId }) => vaultId === id)
    const shares = own?.shares ?? 0n
    const value = snapshot ? valueShares(shares, snapshot, assetDecimals) : 0n
    sum += value
    const { vaultId: _, ...seen } = snapshot ?? { vaultId: id, blockNumber: null, priceUsd: null }
    inputs.push({
      opportunityId,
      chainId,
      vault: address,
      lotChanges: own?.changes ?? 0,
      shares: String(shares),
      ...seen,
    })
    arithmetic.push(
      snapshot?.priceUsd
        ? `${address}: ${shares} × ${snapshot.priceNumerator} × ${snapshot.priceUsd} / 10^${snapshot.priceExponent + assetDecimals} = ${formatUnits(value, usdDecimals)}`
        : `${address}: ${snapshot ? 'no price is known' : 'no snapshot yet'}, so it adds 0`,
    )
  }
  const recomputed = formatUnits(sum, usdDecimals)
  arithmetic.push(`tvl = the sum, each cut after 18 digits = ${recomputed}`)
  const { timeseries } = await readSeries(ctx, query)
  return finish('metrics', bucket, { inputs, arithmetic, recomputed, served: timeseries[0]?.tvl })
}

/** The LPs of a distributor at the end of a bucket, from the changes of its lots. */
export async function recomputeDistributorLps(
  ctx: CatalogueContext,
  { distributorId, at, step = stepSeconds }: OfDistributor,
): Promise<RecomputedBucket> {
  const { bucket, query, vaults } = await select(ctx, { distributorId, at, step })
  const recount = await recountScope(ctx.db, vaults, distributorId, bucket.end)
  const recomputed = { activeLps: recount.active.size, participatedLps: recount.participated.size }
  const { timeseries } = await getDistributorLPs(ctx, query)
  const [point] = timeseries
  return finish('lps', bucket, {
    inputs: vaults.map((vault) => toLpInput(vault, distributorId, recount)),
    arithmetic: sayCounts('wallets of all vaults, each once', recomputed),
    recomputed,
    served: point && { activeLps: point.activeLps, participatedLps: point.participatedLps },
  })
}

/** The LPs of a vault at the end of a bucket, of distributors and of all, from the changes of balances. */
export async function recomputeVaultLps(
  ctx: CatalogueContext,
  {
    chainId,
    vaultAddress,
    at,
    step = stepSeconds,
  }: { chainId: number; vaultAddress: string; at: string; step?: number },
): Promise<RecomputedBucket> {
  const bucket = toBucket(at, step)
  const vault = await findSeriesVault(ctx.db, { chainId, address: vaultAddress.toLowerCase() })
  if (!vault) throw invalidArgument('there is no such vault in the catalogue')
  const scopes = { distributor: anyDistributor, all: everyHolder } as const
  const [distributor, all] = await Promise.all(
    Object.values(scopes).map((scope) => recountScope(ctx.db, [vault], scope, bucket.end)),
  )
  const count = (recount: Recount | undefined) => ({
    activeLps: recount?.active.size ?? 0,
    participatedLps: recount?.participated.size ?? 0,
  })
  const recomputed = { distributor: count(distributor), all: count(all) }
  const served = await getOpportunityHistoricalLPs(ctx, {
    ...{ chainId, vaultAddress, step, startDate: toTs(bucket.start), endDate: toTs(bucket.end) },
  })
  const [point] = served.data
  if (!point) throw invalidArgument('there is no point of that bucket: it has not ended, or nobody held anything yet')
  return finish('lps', bucket, {
    inputs: Object.entries({ distributor, all }).flatMap(([scope, recount]) =>
      recount ? [toLpInput(vault, scope, recount)] : [],
    ),
    arithmetic: [
      ...sayCounts('distributor: wallets with lots', recomputed.distributor),
      ...sayCounts('all: wallets with shares', recomputed.all),
    ],
    recomputed,
    served: { distributor: point.distributor, all: point.all },
  })
}

const toTs = (seconds: number) => formatTs(fromUnixSeconds(seconds))

const toQuery = (distributorId: string, { step, start }: Bucket) => ({
  ...{ distributorId, step, startDate: toTs(start), endDate: toTs(start) },
})

/** Counts what a scope held in vaults just before an instant, from the changes alone. */
async function recountScope(
  db: Queryable,
  vaults: readonly SeriesVault[],
  scope: string,
  end: number,
): Promise<Recount> {
  const vaultIds = vaults.map(({ id }) => id)
  const counted = new Map<number, CountedVault>()
  const floors = await listVaultFloors(db, vaultIds)
  for (const chainId of new Set(vaults.map((vault) => vault.chainId)))
    for (const [id, { isExcluded }] of await listMetricsVaults(db, chainId)) {
      const own = floors.get(id)
      if (own) counted.set(id, { ...own, isExcluded })
    }
  return recountHoldings(parseHoldings(streamHoldings(db, { scope, vaultIds, end })), counted, end)
}

async function* parseHoldings(chunks: AsyncIterable<HoldingChange[]>): AsyncIterable<Holding[]> {
  for await (const chunk of chunks) yield chunk.map((row) => ({ ...row, after: BigInt(row.after) }))
}

function toLpInput({ id, chainId, address }: SeriesVault, scope: string, recount: Recount): Record<string, unknown> {
  const own = recount.vaults.get(id)
  const { changes = 0, active = 0, participated = 0 } = own ?? {}
  return { scope, chainId, vault: address, changes, shares: String(own?.shares ?? 0n), active, participated }
}

const sayCounts = (what: string, { activeLps, participatedLps }: { activeLps: number; participatedLps: number }) => [
  `${what}, at or above the floor at the end = ${activeLps}; ever = ${participatedLps}`,
]

function finish(
  what: RecomputedBucket['what'],
  { start, end }: Bucket,
  found: Pick<RecomputedBucket, 'inputs' | 'arithmetic' | 'recomputed' | 'served'>,
): RecomputedBucket {
  const equal = JSON.stringify(found.recomputed) === JSON.stringify(found.served)
  return { what, from: toTs(start), to: toTs(end - 1), ...found, served: found.served ?? null, equal }
}
