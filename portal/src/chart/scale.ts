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

/** The range of values that an axis shows: a little more than there is, and some room around a flat line. */
export function toRange(points: readonly Point[]): { least: number; most: number } {
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
  let start = 0
  while (start < points.length) {
    const column = Math.floor(((points[start]?.at ?? 0) - first.at) / width)
    let [end, least, most] = [start, start, start]
    while (end < points.length && Math.floor(((points[end]?.at ?? 0) - first.at) / width) === column) {
      if ((points[end]?.value ?? 0) < (points[least]?.value ?? 0)) least = end
      if ((points[end]?.value ?? 0) > (points[most]?.value ?? 0)) most = end
      end++
    }
    const indexes = [...new Set([start, least, most, end - 1])].sort((a, b) => a - b)
    for (const index of indexes) {
      const point = points[index]
      if (point) kept.push(point)
    }
    start = end
  }
  return kept
}

/** In pauses of the usual length: the past of a vault is read in wider steps first. */
const longestPause = 6

/** The longest pause between two points that a line crosses: buckets without data are left out by the service, and stay gaps. */
export function findPause(points: readonly Point[]): number {
  if (points.length < 3) return Number.POSITIVE_INFINITY
  // Numbers of one kind are sorted without a call for each pair.
  const pauses = new Float64Array(points.length - 1)
  for (let at = 0; at < pauses.length; at++) pauses[at] = (points[at + 1]?.at ?? 0) - (points[at]?.at ?? 0)
  const middle = pauses.sort()[pauses.length >> 1] ?? 0
  return middle * longestPause
}
