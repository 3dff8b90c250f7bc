import { formatTs, fromUnixSeconds } from '../../kernel/clock.js'
import type { GrowthSpan } from '../../vaults/configured/index.js'
import { type CatalogueContext, findToken, toToken } from '../catalogue/index.js'
import type { Growth } from './points.js'
import { computeApr, computeApy } from './rates.js'
import { type Decimals, formatPrice, formatSharePrice, priceScale, type Reading, toNumber, toUsd } from './readings.js'
import type { Series } from './series.js'

/** When a point is, and at which block. */
export function toMoment({ at, blockNumber }: Reading) {
  return { timestamp: formatTs(fromUnixSeconds(at)), blockNumber }
}

export function toTvl(reading: Reading, { assetDecimals }: Decimals) {
  const { totalAssets, priceUsd } = reading
  return { native: toNumber(totalAssets, assetDecimals), usd: toUsd(totalAssets, assetDecimals, priceUsd) }
}

export function toSharePrice(reading: Reading, decimals: Decimals) {
  const scale = priceScale(reading, decimals)
  const { priceNumerator, priceUsd } = reading
  return { native: toNumber(priceNumerator, scale), usd: toUsd(priceNumerator, scale, priceUsd) }
}

/** Rewards are streams of their own, so a vault's rate has none. */
function toRate(base: number) {
  return { base, reward: 0, total: base }
}

const compute = { apr: computeApr, apy: computeApy }

/** The rate of a growth; undefined where it is no finite number. */
export function findRate({ from, to, growth }: Growth, name: 'apr' | 'apy') {
  const base = compute[name](growth, to.at - from.at)
  return base === undefined ? undefined : toRate(base)
}

/** A reading with everything a person needs to count again. */
function toInput(reading: Reading, decimals: Decimals) {
  const { blockNumber, timestamp } = toMoment(reading)
  return {
    blockNumber,
    blockHash: `0x${reading.blockHash}`,
    timestamp,
    totalAssets: reading.totalAssets,
    totalSupply: reading.totalSupply,
    priceNumerator: reading.priceNumerator,
    sharePrice: formatSharePrice(reading, decimals),
    priceUsd: formatPrice(reading.priceUsd),
  }
}

/** The points of a rate, each with its inputs where they are asked for. */
export function toRatePoints<N extends 'apr' | 'apy'>(
  growths: readonly Growth[],
  name: N,
  inputsOf: Decimals | undefined,
) {
  return growths.flatMap((growth) => {
    const rate = findRate(growth, name)
    if (!rate) return []
    const { from, to } = growth
    return [
      {
        ...toMoment(to),
        ...({ [name]: rate } as Record<N, typeof rate>),
        effectiveIntervalSeconds: to.at - from.at,
        ...(inputsOf ? { inputs: { from: toInput(from, inputsOf), to: toInput(to, inputsOf) } } : {}),
      },
    ]
  })
}

const methods = { apr: 'share-price-growth-simple', apy: 'growth-compound' }

/** How the numbers of an answer are made. */
export function toMethod(name: 'apr' | 'apy', source: GrowthSpan['source']) {
  return { id: methods[name], version: '1', source }
}

/** The token a vault counts in, once it has a snapshot. */
export function findBaseAsset(ctx: CatalogueContext, { vault, head }: Series) {
  const token = head.newestAt ? findToken(ctx.catalogue.current(), vault.chainId, vault.asset) : undefined
  return token ? { baseAsset: toToken(token) } : {}
}
