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
  // Most places of a long series are cut already: for the others a value is kept only where one is.
  const known = new Array<bigint>(count).fill(0n)
  const values = new Array<bigint | undefined>(count)
  let [total, common, unpricedMs, unguardedMs] = [0n, 0, 0, 0]
  /** Brings a value to the common scale, or all others to its own. */
  const scaled = (value: bigint, scale: number): bigint => {
    if (scale > common) {
      const factor = 10n ** BigInt(scale - common)
      for (let place = 0; place < count; place++) {
        const own = values[place]
        if (own !== undefined) values[place] = own * factor
      }
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
      for (let index = 0; index < cuts.length; index++) known[first + index] = cuts[index] ?? 0n
    },
    miss: (missed) => {
      unpricedMs += missed.unpricedMs
      unguardedMs += missed.unguardedMs
    },
    cut: (assetDecimals) => {
      const divide = openDivision(assetDecimals)
      const stretches = known.slice()
      for (let place = 0; place < count; place++) {
        const value = values[place]
        if (value) stretches[place] = (stretches[place] ?? 0n) + divide(value, common)
      }
      return { total: divide(total, common), stretches, unpricedMs, unguardedMs }
    },
  }
}
