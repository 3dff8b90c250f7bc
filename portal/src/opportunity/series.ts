import {
  type EarnClient,
  getOpportunityHistoricalAPR,
  getOpportunityHistoricalAPY,
  getOpportunityHistoricalLPs,
  getOpportunityHistoricalSharePrice,
  getOpportunityHistoricalTVL,
  type types,
} from '@openearn/sdk'
import { type Range, toDates } from '../chart/ranges.js'
import type { Point } from '../chart/scale.js'

/** The series of a vault, as tabs name them. */
export const seriesNames = {
  tvl: 'TVL',
  price: 'Share price',
  apy: 'APY',
  apr: 'APR',
  lps: 'Depositors',
} as const
export type SeriesName = keyof typeof seriesNames

export type Inputs = { from: types.Reading; to: types.Reading; seconds: number }

/** A series as it is drawn. `inputs`: for each point, where the service tells them. */
export type Series = {
  points: Point[]
  unit: 'usd' | 'tokens' | 'percent' | 'count'
  /** Of tokens. */
  symbol?: string
  inputs?: (Inputs | undefined)[]
  method?: types.GetOpportunityHistoricalAPYResult['method']
}

type Vault = { chainId: number; vaultAddress: `0x${string}` }
type Read = (earn: EarnClient, vault: Vault, range: Range, signal: AbortSignal) => Promise<Series>
type Valued = { timestamp: string; value: types.Value }

/** In US dollars where each point has a price, else in the vault's own asset. */
function toValued(rows: readonly Valued[], symbol: string | undefined): Series {
  const isPriced = rows.every(({ value }) => value.usd !== null)
  const points = rows.map(({ timestamp, value }) => ({
    ...{ at: Date.parse(timestamp), value: isPriced ? (value.usd ?? 0) : value.native },
  }))
  return isPriced && rows.length > 0
    ? { points, unit: 'usd' }
    : { points, unit: 'tokens', ...(symbol === undefined ? {} : { symbol }) }
}

const readTvl: Read = async (earn, vault, range, signal) => {
  const params = { ...vault, ...toDates(range, Date.now()) }
  const { data, baseAsset } = await getOpportunityHistoricalTVL(earn, params, { signal })
  return toValued(
    data.map(({ timestamp, tvl }) => ({ timestamp, value: tvl })),
    baseAsset?.symbol,
  )
}

/** Always in the vault's asset: what its price does is another matter. */
const readPrice: Read = async (earn, vault, range, signal) => {
  const params = { ...vault, ...toDates(range, Date.now()) }
  const { data, baseAsset } = await getOpportunityHistoricalSharePrice(earn, params, { signal })
  const points = data.map(({ timestamp, sharePrice }) => ({ at: Date.parse(timestamp), value: sharePrice.native }))
  return { points, unit: 'tokens', ...(baseAsset ? { symbol: baseAsset.symbol } : {}) }
}

type RateRow = {
  timestamp: string
  effectiveIntervalSeconds: number
  inputs?: { from: types.Reading; to: types.Reading }
}

const toInputs = ({ inputs, effectiveIntervalSeconds: seconds }: RateRow): Inputs | undefined =>
  inputs && { ...inputs, seconds }

const readApy: Read = async (earn, vault, range, signal) => {
  const params = { ...vault, ...toDates(range, Date.now()), includeInputs: true }
  const { data, method } = await getOpportunityHistoricalAPY(earn, params, { signal })
  const points = data.map(({ timestamp, apy }) => ({ at: Date.parse(timestamp), value: apy.total }))
  return { points, unit: 'percent', inputs: data.map(toInputs), method }
}

const readApr: Read = async (earn, vault, range, signal) => {
  const params = { ...vault, ...toDates(range, Date.now()), includeInputs: true }
  const { data, method } = await getOpportunityHistoricalAPR(earn, params, { signal })
  const points = data.map(({ timestamp, apr }) => ({ at: Date.parse(timestamp), value: apr.total }))
  return { points, unit: 'percent', inputs: data.map(toInputs), method }
}

const readLps: Read = async (earn, vault, range, signal) => {
  const { data } = await getOpportunityHistoricalLPs(earn, { ...vault, ...toDates(range, Date.now()) }, { signal })
  return {
    points: data.map(({ timestamp, all }) => ({ at: Date.parse(timestamp), value: all.activeLps })),
    unit: 'count',
  }
}

export const reads: Readonly<Record<SeriesName, Read>> = {
  tvl: readTvl,
  price: readPrice,
  apy: readApy,
  apr: readApr,
  lps: readLps,
}
