import type { GrowthSpan } from '../../vaults/configured/index.js'
import type { Range } from './range.js'
import { computeGrowth, type Figure } from './rates.js'
import type { Reading } from './readings.js'

/** The conditions under which a snapshot is a reading. */
export type Trust = {
  /** A snapshot with fewer shares is no reading: anybody can set the share price of an empty vault. */
  dustFloor: bigint
  /** Spans in which the vault was paused, in Unix seconds, the end not included. */
  pauses: readonly { from: number; to: number }[]
  /** Growth is measured in US dollars, so a snapshot without a price is no reading. */
  isPriced: boolean
}

/** Two readings and the growth between them. */
export type Growth = { from: Reading; to: Reading; growth: number }

/** Whether a snapshot is a reading. Pure. */
export function isReading(snapshot: Reading, { dustFloor, pauses, isPriced }: Trust): boolean {
  if (isPriced && snapshot.priceUsd === undefined) return false
  if (pauses.some(({ from, to }) => snapshot.at >= from && snapshot.at < to)) return false
  return isAtLeast(snapshot.totalSupply, dustFloor)
}

function isAtLeast(digits: string, floor: bigint): boolean {
  // Sixteen digits are more than any floor that is set; only few are counted with.
  return (digits.length > 16 && floor < 10_000_000_000_000_000n) || BigInt(digits) >= floor
}

/** The last snapshot of every bucket of a range, oldest first. Pure. */
export function lastOfBuckets(snapshots: readonly Reading[], range: Range): Reading[] {
  const chosen: Reading[] = []
  let bucket = Number.NaN
  for (const snapshot of snapshots) {
    if (snapshot.at * 1000 < range.startMs || snapshot.at * 1000 > range.endMs) continue
    const own = Math.floor(snapshot.at / range.step)
    if (own === bucket) chosen.pop()
    bucket = own
    chosen.push(snapshot)
  }
  return chosen
}

/**
 * For each bucket the growth from the newest reading that is at least `apyInterval` older than its last reading. A bucket
 * without two readings, or whose last one the source does not measure, has none. Pure.
 */
export function listGrowth(snapshots: readonly Reading[], range: Range, trust: Trust, source: GrowthSpan): Growth[] {
  const readings = snapshots.filter((snapshot) => isReading(snapshot, trust))
  const found: Growth[] = []
  let next = 0
  for (const to of lastOfBuckets(readings, range)) {
    while ((readings[next]?.at ?? Number.POSITIVE_INFINITY) <= to.at - range.apyInterval) next += 1
    const from = readings[next - 1]
    if (!from || to.at * 1000 < source.fromMs || to.at * 1000 >= source.toMs) continue
    const growth = computeGrowth(toFigure(from, source), toFigure(to, source))
    if (growth !== undefined) found.push({ from, to, growth })
  }
  return found
}

/** The figure whose growth is measured: the price of a share in the base asset, or in US dollars scaled by 10^18. Pure. */
export function toFigure(reading: Reading, { source }: Pick<GrowthSpan, 'source'>): Figure {
  const price = BigInt(reading.priceNumerator)
  const numerator = source === 'nav' ? price * (reading.priceUsd ?? 0n) : price
  return { numerator, exponent: reading.priceExponent }
}
