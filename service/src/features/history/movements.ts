import type { GrowthSpan } from '../../vaults/configured/index.js'
import type { Deltas } from '../catalogue/index.js'
import { toFigure } from './points.js'
import { computeApr, computeApy, computeGrowth, round } from './rates.js'
import { cutUsd, type Decimals, parseReadings, type Reading, toNumber } from './readings.js'

export const movementDays = [1, 7, 30] as const

/** A vault at an instant: its newest snapshot, and the two readings of its rate. */
export type Standing = { last: Reading | undefined; to: Reading | undefined; from: Reading | undefined }

/** A standing of lines as the store gives them. Pure. */
export function toStanding(lines: Record<keyof Standing, string | null>): Standing {
  const read = (line: string | null) => parseReadings(line ?? '')[0]
  return { last: read(lines.last), to: read(lines.to), from: read(lines.from) }
}

/** The rate a standing shows, in percent; null where it shows none. Pure. */
export function rateOf({ from, to }: Standing, kind: 'apr' | 'apy', source: GrowthSpan): number | null {
  if (!from || !to || to.at * 1000 < source.fromMs || to.at * 1000 >= source.toMs) return null
  const growth = computeGrowth(toFigure(from, source), toFigure(to, source))
  if (growth === undefined) return null
  return (kind === 'apr' ? computeApr : computeApy)(growth, to.at - from.at) ?? null
}

/** US dollars of all that a vault holds, scaled by 10^18; null without a price. Pure. */
function tvlOf({ last }: Standing, { assetDecimals }: Decimals): bigint | null {
  return last?.priceUsd === undefined ? null : cutUsd(BigInt(last.totalAssets), assetDecimals, last.priceUsd)
}

/** Movements of TVL: now, and against each of the days before, in their order; exact until they are rounded. Pure. */
export function computeTvlMovement(now: Standing, then: readonly Standing[], decimals: Decimals): Deltas['tvl'] {
  const current = tvlOf(now, decimals)
  const against = then.map((standing) => {
    const before = tvlOf(standing, decimals)
    return current === null || before === null ? null : (round(toNumber(current - before, 18)) ?? null)
  })
  return toMovement(current === null ? null : toNumber(current, 18), against)
}

/** Movements of APY, of one source now and then; all null while it is withheld. Pure. */
export function computeApyMovement(
  now: Standing,
  then: readonly Standing[],
  source: GrowthSpan | undefined,
): Deltas['apy'] {
  const current = source ? rateOf(now, 'apy', source) : null
  const against = then.map((standing) => {
    const before = source && current !== null ? rateOf(standing, 'apy', source) : null
    return current === null || before === null ? null : (round(current - before) ?? null)
  })
  return toMovement(current, against)
}

/** Movements of a count. Pure. */
export function computeCountMovement(counts: readonly (number | null)[]): Deltas['lps'] {
  const [current = null, ...then] = counts
  return toMovement(
    current,
    then.map((before) => (current === null || before === null ? null : current - before)),
  )
}

function toMovement(current: number | null, against: readonly (number | null)[]): Deltas['tvl'] {
  const [d1 = null, d7 = null, d30 = null] = against
  return { current, d1, d7, d30 }
}
