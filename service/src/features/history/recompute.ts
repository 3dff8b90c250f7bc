import { formatUnits, usdDecimals } from '../../kernel/amount.js'
import { invalidArgument } from '../../kernel/errors.js'
import { readBlock } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { readVaultStates } from '../../vaults/index.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { getOpportunityHistorical } from './getOpportunityHistorical.js'
import { getOpportunityHistoricalAPR } from './getOpportunityHistoricalAPR.js'
import { getOpportunityHistoricalAPY } from './getOpportunityHistoricalAPY.js'
import { listGrowth, toFigure } from './points.js'
import { computeApr, computeApy, computeGrowth, yearSeconds } from './rates.js'
import { formatPrice, formatSharePrice, type Reading, toNumber, toUsd } from './readings.js'
import {
  assertServed,
  findSeries,
  listSnapshots,
  type Series,
  sharePriceGrowth,
  toTrust,
  type VaultInput,
} from './series.js'

export type RecomputeWhat = 'apr' | 'apy' | 'tvl'

/** One served point counted again, every step as a line. `equal` where it is what is served, to the digit. */
export type Recomputed = {
  what: RecomputeWhat
  inputs: Record<string, unknown>[]
  arithmetic: string[]
  recomputed: unknown
  served: unknown
  equal: boolean
}

export type RecomputeInput = VaultInput & { at: string; apyInterval?: number }

/**
 * Computes the point served for an instant again, from our snapshots or, with `chain`, from reads of its node at their blocks.
 * The instant is that of the point; prices in US dollars are always ours.
 */
export async function recomputePoint(
  ctx: CatalogueContext,
  what: RecomputeWhat,
  input: RecomputeInput,
  chain?: Chain,
): Promise<Recomputed> {
  const { at, apyInterval, ...vault } = input
  const query = { ...vault, startDate: at, endDate: at, step: 1, ...(apyInterval === undefined ? {} : { apyInterval }) }
  const { range, series } = await findSeries(ctx, query)
  if (!series) throw invalidArgument('there is no such vault in the catalogue')
  const reread = (reading: Reading) => (chain ? readAgain(chain, series, reading) : Promise.resolve(reading))
  if (what === 'tvl') {
    const [own] = await listSnapshots(ctx, series, range, { trust: undefined, withHashes: true })
    if (!own) throw invalidArgument('there is no point at that instant; its timestamp is that of a snapshot')
    const reading = await reread(own)
    const body = await getOpportunityHistorical(ctx, query)
    return finish(what, [reading], series, countTvl(reading, series), body.data[0]?.tvl)
  }
  assertServed(series)
  const source = what === 'apr' ? sharePriceGrowth : series.growth
  if (source === 'none' || source === 'ambiguous')
    throw invalidArgument('this vault has no single growth source at that time')
  const trust = toTrust(series, source.source)
  const snapshots = await listSnapshots(ctx, series, range, { trust, withHashes: true })
  const [growth] = listGrowth(snapshots, range, trust, source)
  if (!growth)
    throw invalidArgument(
      'there is no point at that instant: the reading, or an earlier one that is old enough, is missing',
    )
  const [from, to] = [await reread(growth.from), await reread(growth.to)]
  const counted = countRate(what, from, to, source)
  const served =
    what === 'apr'
      ? (await getOpportunityHistoricalAPR(ctx, query)).data[0]?.apr
      : (await getOpportunityHistoricalAPY(ctx, query)).data[0]?.apy
  return finish(what, [from, to], series, counted, served?.base)
}

/** Reads a vault from a node at the block of a snapshot. */
async function readAgain(chain: Chain, { vault }: Series, reading: Reading): Promise<Reading> {
  const block = await readBlock(chain, reading.blockNumber)
  if (block.hash !== `0x${reading.blockHash}`)
    throw invalidArgument(`the node has another block ${reading.blockNumber} than the one the snapshot was taken at`)
  const [state] = await readVaultStates(chain, [vault], block.hash)
  const figures = state?.figures
  if (!figures) throw invalidArgument(`the vault does not answer at block ${reading.blockNumber}; ask an archive node`)
  return {
    ...reading,
    at: block.timestamp,
    totalAssets: String(figures.totalAssets),
    totalSupply: String(figures.totalSupply),
    priceNumerator: String(figures.priceNumerator),
    priceExponent: figures.priceExponent,
  }
}

type Counted = { arithmetic: string[]; recomputed: unknown }

function countTvl({ totalAssets, priceUsd }: Reading, { vault }: Series): Counted {
  const native = toNumber(totalAssets, vault.assetDecimals)
  const usd = toUsd(totalAssets, vault.assetDecimals, priceUsd)
  const price = formatPrice(priceUsd)
  return {
    arithmetic: [
      `native = ${totalAssets} / 10^${vault.assetDecimals} = ${native}`,
      price === null
        ? 'usd = null: no price is known'
        : `usd = ${totalAssets} × ${price} / 10^${vault.assetDecimals} = ${usd}`,
    ],
    recomputed: { native, usd },
  }
}

function countRate(what: 'apr' | 'apy', from: Reading, to: Reading, source: typeof sharePriceGrowth): Counted {
  const [f0, f1] = [toFigure(from, source), toFigure(to, source)]
  const x = computeGrowth(f0, f1)
  const seconds = to.at - from.at
  if (x === undefined) return { arithmetic: ['the first price is 0'], recomputed: null }
  const recomputed = (what === 'apr' ? computeApr : computeApy)(x, seconds) ?? null
  const figure = ({ numerator, exponent }: typeof f0) => `${numerator} / 10^${exponent}`
  const rate =
    what === 'apr' ? `x × ${yearSeconds} / ${seconds} × 100` : `expm1(log1p(x) × ${yearSeconds} / ${seconds}) × 100`
  return {
    arithmetic: [
      `p0 = ${figure(f0)}`,
      `p1 = ${figure(f1)}`,
      `x = (p1 − p0) / p0, cut after 30 digits = ${x}`,
      `${what} = ${rate} = ${recomputed}, rounded to 12 digits`,
    ],
    recomputed,
  }
}

function finish(
  what: RecomputeWhat,
  readings: readonly Reading[],
  { vault }: Series,
  { arithmetic, recomputed }: Counted,
  served: unknown,
): Recomputed {
  const inputs = readings.map((reading) => ({
    blockNumber: reading.blockNumber,
    blockHash: `0x${reading.blockHash}`,
    unixSeconds: reading.at,
    totalAssets: reading.totalAssets,
    totalSupply: reading.totalSupply,
    priceNumerator: reading.priceNumerator,
    priceExponent: reading.priceExponent,
    sharePrice: formatSharePrice(reading, vault),
    priceUsd: reading.priceUsd === undefined ? null : formatUnits(reading.priceUsd, usdDecimals),
  }))
  const equal = JSON.stringify(recomputed) === JSON.stringify(served)
  return { what, inputs, arithmetic, recomputed, served: served ?? null, equal }
}
