import { openDivision, scaleSum, type UsdSum } from './usdDays.js'

/** Adds exact sums place by place, and cuts each place once. */
export type OpenTally = {
  /** Adds US dollars × milliseconds × 10^decimals of the asset, divided by 10^scale. */
  add(place: number, value: bigint, scale: number): void
  /** Adds places that are whole, from one on: cut already, in units of 10^-18; and their exact sum. */
  addCut(first: number, cuts: readonly bigint[], sum: { total: bigint; scale: number }): void
  miss(missed: Pick<UsdSum, 'unpricedMs' | 'unguardedMs'>): void
  /** US dollars × days in units of 10^-18: of each place, and of all. */
  cut(assetDecimals: number): { total: bigint; stretches: bigint[]; unpricedMs: number; unguardedMs: number }
}

/** A tally whose places are all 0. They have one scale, the largest of those that were added. */
export function openTally(count: number): OpenTally {
  const zeros = () => Array.from({ length: count }, () => 0n)
  const known = zeros()
  let [values, total, common, unpricedMs, unguardedMs] = [zeros(), 0n, 0, 0, 0]
  /** Brings a value to the common scale, or all others to its own. */
  const scaled = (value: bigint, scale: number): bigint => {
    if (scale > common) {
      const factor = 10n ** BigInt(scale - common)
      values = values.map((each) => (each === 0n ? each : each * factor))
      total *= factor
      common = scale
    }
    return scale === common ? value : scaleSum({ value, scale }, common)
  }
  return {
    add: (place, value, scale) => {
      const own = scaled(value, scale)
      total += own
      values[place] = (values[place] ?? 0n) + own
    },
    addCut: (first, cuts, sum) => {
      total += scaled(sum.total, sum.scale)
      for (const [index, cut] of cuts.entries()) known[first + index] = cut
    },
    miss: (missed) => {
      unpricedMs += missed.unpricedMs
      unguardedMs += missed.unguardedMs
    },
    cut: (assetDecimals) => {
      const divide = openDivision(assetDecimals)
      const stretches = values.map((value, place) => {
        const cut = known[place] ?? 0n
        return value === 0n ? cut : cut + divide(value, common)
      })
      return { total: divide(total, common), stretches, unpricedMs, unguardedMs }
    },
  }
}
