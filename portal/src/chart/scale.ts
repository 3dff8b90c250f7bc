/** A point of a series: Unix milliseconds, and the value. */
export type Point = { at: number; value: number }

/** Lines of an axis at round values within a range: about `count` of them. */
export function toTicks(least: number, most: number, count: number): number[] {
  const span = most - least
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(least) ? [least] : []
  const rough = span / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10)
  const ticks: number[] = []
  // By whole numbers of steps: sums of steps drift.
  for (let index = Math.ceil(least / step); index * step <= most; index++) ticks.push(index * step)
  return ticks
}

/** More digits than a number has say nothing. */
const digitsMax = 12

/**
 * The texts of lines that stand close together differ: as few digits more as that takes. Without `digits` the usual ones. A new format
 * takes a browser milliseconds, so the step between two lines tells the first number of digits that is tried.
 */
export function writeTicks(ticks: readonly number[], write: (value: number, digits?: number) => string): string[] {
  let texts = ticks.map((tick) => write(tick))
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0))
  const needed = step > 0 ? Math.ceil(-Math.log10(step) - 1e-6) : digitsMax
  let digits = Math.min(digitsMax, Math.max(2, needed))
  for (; digits <= digitsMax && new Set(texts).size < texts.length; digits++)
    texts = ticks.map((tick) => write(tick, digits))
  return texts
}

export type ValueRange = { least: number; most: number }

/** The range of values that an axis shows: a little more than there is, and some room around a flat line. */
export function toRange(points: readonly Point[]): ValueRange {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const { value } of points) {
    if (value < least) least = value
    if (value > most) most = value
  }
  if (least > most) return { least: 0, most: 1 }
  const room = most > least ? (most - least) * 0.08 : Math.abs(most) * 0.01 || 1
  return { least: least >= 0 ? Math.max(0, least - room) : least - room, most: most + room }
}

/** The index of the point that is nearest to an instant; the points stand in the order of time. -1 where there is no point. */
export function findNearest(points: readonly Point[], at: number): number {
  let low = 0
  let high = points.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle]?.at ?? 0) < at) low = middle + 1
    else high = middle
  }
  const before = points[low - 1]
  const found = points[low]
  if (!found) return -1
  return before && at - before.at <= Math.abs(found.at - at) ? low - 1 : low
}

/**
 * Points enough to draw a line of that number of columns: of each column the first, the least, the greatest and the last, in their order. A
 * line through them looks the same.
 */
export function thin(points: readonly Point[], columns: number): readonly Point[] {
  if (points.length <= 4 * columns) return points
  const [first, last] = [points[0], points[points.length - 1]]
  if (!first || !last) return points
  const width = (last.at - first.at) / columns || 1
  const kept: Point[] = []
  // A column's first, least, greatest and last point. Each point is looked at once: a long series is drawn by code that is not warm.
  let [start, least, most] = [first, first, first]
  let before = first
  let end = first.at + width
  const keep = () => {
    const [one, other] = least.at < most.at ? [least, most] : [most, least]
    for (const each of [start, one, other, before]) if (each !== kept.at(-1)) kept.push(each)
  }
  for (const point of points) {
    if (point.at >= end) {
      keep()
      end = first.at + (Math.floor((point.at - first.at) / width) + 1) * width
      start = point
      least = point
      most = point
    } else if (point.value < least.value) least = point
    else if (point.value > most.value) most = point
    before = point
  }
  keep()
  return kept
}

/** In pauses of the usual length: the past of a vault is read in wider steps first. */
const longestPause = 6

/** Pauses that are looked at to tell the usual one. */
const pausesMax = 1_000

/** The longest pause between two points that a line crosses: buckets without data are left out by the service, and stay gaps. */
export function findPause(points: readonly Point[]): number {
  if (points.length < 3) return Number.POSITIVE_INFINITY
  const step = Math.ceil((points.length - 1) / pausesMax)
  const pauses: number[] = []
  for (let at = 1; at < points.length; at += step) pauses.push((points[at]?.at ?? 0) - (points[at - 1]?.at ?? 0))
  // Numbers of one kind are sorted without a call for each pair.
  const middle = Float64Array.from(pauses).sort()[pauses.length >> 1] ?? 0
  return middle * longestPause
}

/** The parts of a series between its gaps. */
export function toRuns(points: readonly Point[]): (readonly Point[])[] {
  const pause = findPause(points)
  const runs: (readonly Point[])[] = []
  let [start, index, last] = [0, 0, Number.POSITIVE_INFINITY]
  for (const { at } of points) {
    if (at - last > pause) {
      runs.push(points.slice(start, index))
      start = index
    }
    last = at
    index++
  }
  if (index > start) runs.push(points.slice(start))
  return runs
}
