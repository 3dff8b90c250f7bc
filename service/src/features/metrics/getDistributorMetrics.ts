import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { formatTs } from '../../kernel/clock.js'
import type { Caller } from '../../kernel/operation.js'
import { formatAddress } from '../../wallets/format.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { type Flows, sumFlowsOf } from '../ledger/index.js'
import { assertOwnAudits, readAudits } from './auditMonths.js'
import { type Buckets, startsOf } from './buckets.js'
import {
  listAskedChains,
  type SelectedSeries,
  type SelectedVault,
  type SeriesInput,
  selectSeries,
} from './selection.js'
import { listSeriesTimes, listTopWallets, readAttributedTvl } from './storeSeries.js'
import { readUsdDaysSeries, type UsdDaysSeries } from './usdDaysSeries.js'

export type GetDistributorMetricsInput = SeriesInput & {
  includeTopWallets?: boolean
  includeUsdDays?: boolean
  includeFlows?: boolean
  includeAudit?: boolean
}

const topWalletsMax = 50

/** The TVL attributed to a distributor over time, in US dollars; where asked for, its USD-days, flows, top wallets and audits. */
export async function getDistributorMetrics(ctx: CatalogueContext, input: GetDistributorMetricsInput, caller: Caller) {
  if (input.includeAudit !== true) return readSeries(ctx, input)
  assertOwnAudits(ctx, input.distributorId, caller)
  const selected = await selectSeries(ctx, input)
  const series = await readSelected(ctx, input, selected)
  return { ...series, audit: await readAudits(ctx, input.distributorId, selected.range) }
}

/** The same without audits, which depend on who asks. */
export async function readSeries(ctx: CatalogueContext, input: GetDistributorMetricsInput) {
  return readSelected(ctx, input, await selectSeries(ctx, input))
}

async function readSelected(
  ctx: CatalogueContext,
  input: GetDistributorMetricsInput,
  { vaults, buckets, range, now }: SelectedSeries,
) {
  const { db } = ctx
  const asked = input.includeTopWallets === true
  const of = { distributorId: input.distributorId, vaults: vaults ?? [] }
  const counted =
    input.includeUsdDays === true &&
    readUsdDaysSeries(ctx, { ...of, chainIds: listAskedChains(ctx, input), range, buckets })
  const flowing =
    input.includeFlows === true &&
    sumFlowsOf(db, { distributorId: of.distributorId, vaultIds: of.vaults.map(({ id }) => id) }, range)
  if (!vaults)
    return {
      ...{ timeseries: [], asOf: [], topWallets: asked ? [] : null },
      ...{ ...tellUsdDays(await counted), ...tellFlows(await flowing, range) },
    }
  const [values, asOf, top, usdDays, flows] = await Promise.all([
    readAttributedTvl(db, of, buckets),
    listAsOf(ctx, vaults, buckets),
    asked && listTopWallets(db, of, topWalletsMax),
    counted,
    flowing,
  ])
  return {
    timeseries: startsOf(buckets).map((at, index) => ({
      timestamp: formatTs(at),
      tvl: formatUsd(values.get(buckets.first + index) ?? 0n),
      ...(usdDays ? { usdDays: usdDays.points[index] ?? '0' } : {}),
    })),
    ...tellUsdDays(usdDays),
    ...tellFlows(flows, range),
    asOf,
    topWallets: top
      ? top.map(({ wallet, value, asOf: at }) => ({
          walletAddress: formatAddress(wallet),
          totalTvl: formatUsd(BigInt(value)),
          asOf: formatTs(at ?? now),
        }))
      : null,
  }
}

const tellUsdDays = (counted: UsdDaysSeries | false) => (counted ? { usdDays: counted.summary } : {})

const tellFlows = (flows: Flows | false, { from, to }: { from: Date; to: Date }) =>
  flows ? { flows: { from: formatTs(from), to: formatTs(to), ...flows } } : {}

const formatUsd = (value: bigint): string => formatUnits(value, usdDecimals)

/** How new the figures of each opportunity are; one without a snapshot in the range is left out. */
async function listAsOf({ db }: CatalogueContext, vaults: readonly SelectedVault[], buckets: Buckets) {
  const { step, first, last } = buckets
  const range = { from: new Date(first * step * 1000), end: new Date((last + 1) * step * 1000) }
  const times = new Map((await listSeriesTimes(db, vaults, range)).map(({ id, asOf }) => [id, asOf]))
  return vaults
    .flatMap(({ id, opportunityId }) => {
      const at = times.get(id)
      return at ? [{ opportunityId, asOf: formatTs(at) }] : []
    })
    .sort((a, b) => (a.opportunityId < b.opportunityId ? -1 : 1))
}
