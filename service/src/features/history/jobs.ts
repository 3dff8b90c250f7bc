import { isDeepStrictEqual } from 'node:util'
import { daySeconds, fromUnixSeconds, toUnixSeconds } from '../../kernel/clock.js'
import { listReadingsAt, listSeriesHeads } from '../../snapshots/index.js'
import { readNows } from '../../sync/storeNow.js'
import type { GrowthSpan } from '../../vaults/configured/index.js'
import { type CatalogueContext, type DeltasPush, type OpportunityRecord, pushDeltas } from '../catalogue/index.js'
import { countActiveLps } from '../metrics/index.js'
import {
  computeApyMovement,
  computeCountMovement,
  computeTvlMovement,
  movementDays,
  rateOf,
  type Standing,
  toStanding,
} from './movements.js'
import { apyIntervalDefault } from './range.js'
import { judgeSeries, type Series, sharePriceGrowth } from './series.js'

/** Vaults whose readings are asked for at once. */
const vaultsPerRead = 500

/**
 * Pushes into the catalogue the movements of TVL, LPs and APY of every vault, and the APR of its indexed yield. Unchanged
 * figures are not pushed.
 */
export async function runMovements(ctx: CatalogueContext): Promise<void> {
  const heads = new Map((await listSeriesHeads(ctx.db)).map((head) => [`${head.chainId}:${head.address}`, head]))
  const opportunities = [...ctx.catalogue.current().opportunities.values()]
  const nowOf = await readNows(ctx)
  for (let at = 0; at < opportunities.length; at += vaultsPerRead) {
    const judged: Judged[] = []
    const page = opportunities.slice(at, at + vaultsPerRead)
    const nowSeconds = toUnixSeconds(nowOf(page.map(({ chainId }) => chainId)))
    const instants = [nowSeconds, ...movementDays.map((days) => nowSeconds - days * daySeconds)]
    for (const record of page) {
      const head = heads.get(`${record.chainId}:${record.vault.address}`)
      const range = rangeAt(nowOf([record.chainId]))
      if (head) judged.push({ record, series: await judgeSeries(ctx, record.vault, head, range) })
    }
    const [prices, navs, lps] = await Promise.all([
      readStandings(ctx, judged, instants, false),
      readStandings(
        ctx,
        judged.filter(({ series }) => sourceOf(series)?.source === 'nav'),
        instants,
        true,
      ),
      countActiveLps(
        ctx.db,
        judged.map(({ series }) => series.head.vaultId),
        [undefined, ...instants.slice(1).map(fromUnixSeconds)],
      ),
    ])
    const pushes = judged.map((one) => toPush(one, { prices, navs, lps }, instants))
    await pushDeltas(
      ctx,
      pushes.filter((push, index) => !isShown(push, judged[index]?.record)),
    )
  }
}

type Judged = { record: OpportunityRecord; series: Series }

const rangeAt = (now: Date) => ({ startMs: now.getTime(), endMs: now.getTime(), now })

/** The growth source of a vault's APY, if APY is served. */
function sourceOf({ growth, withheld }: Series): GrowthSpan | undefined {
  return withheld || growth === 'none' || growth === 'ambiguous' ? undefined : growth
}

/** Standings by vault and instant. */
type Standings = ReadonlyMap<string, Standing>

/** LPs by vault: now, and at each instant before. */
type LpCounts = Awaited<ReturnType<typeof countActiveLps>>

async function readStandings(
  { db }: CatalogueContext,
  judged: readonly Judged[],
  instants: readonly number[],
  isPriced: boolean,
): Promise<Standings> {
  if (judged.length === 0) return new Map()
  const vaultIds = judged.map(({ series }) => series.head.vaultId)
  const rows = await listReadingsAt(db, { vaultIds, instants, lookback: apyIntervalDefault, isPriced })
  return new Map(rows.map((row) => [`${row.vaultId}:${row.at}`, toStanding(row)]))
}

const nothing: Standing = { last: undefined, to: undefined, from: undefined }

function toPush(
  { record, series }: Judged,
  { prices, navs, lps }: { prices: Standings; navs: Standings; lps: LpCounts },
  instants: readonly number[],
): DeltasPush {
  const at = (standings: Standings) =>
    instants.map((instant) => standings.get(`${series.head.vaultId}:${instant}`) ?? nothing)
  const [now = nothing, ...then] = at(prices)
  const source = sourceOf(series)
  const [measured = nothing, ...measuredThen] = source?.source === 'nav' ? at(navs) : [now, ...then]
  return {
    opportunityId: record.id,
    deltas: {
      tvl: computeTvlMovement(now, then, series.vault),
      lps: computeCountMovement(lps.get(series.head.vaultId) ?? []),
      apy: computeApyMovement(measured, measuredThen, source),
    },
    indexedApr: series.withheld ? null : rateOf(now, 'apr', sharePriceGrowth),
  }
}

/** Whether the catalogue shows it already. */
function isShown({ deltas, indexedApr = null }: DeltasPush, record: OpportunityRecord | undefined): boolean {
  if (!record || !isDeepStrictEqual(record.deltas, deltas)) return false
  return indexedApr === null || record.indexedApr === null
    ? indexedApr === record.indexedApr
    : indexedApr === Number(record.indexedApr)
}
