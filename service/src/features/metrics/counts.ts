import { type Buckets, carryForward, startsOf } from './buckets.js'

type Count = { active: number; participated: number }

const nobody: Count = { active: 0, participated: 0 }

/** The counts at the end of every bucket, the last value carried forward. */
export function listCounts(
  buckets: Buckets,
  points: readonly (Count & { bucket: number })[],
): (Count & { at: Date })[] {
  const before = points.findLast(({ bucket }) => bucket < buckets.first) ?? nobody
  const values = carryForward<Count>(
    buckets,
    points.map((point) => ({ bucket: point.bucket, value: point })),
    before,
  )
  return startsOf(buckets).map((at, index) => ({ at, ...(values[index] ?? nobody) }))
}
