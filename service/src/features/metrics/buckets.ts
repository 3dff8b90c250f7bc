/** Buckets of a series: bucket k covers [k × step, (k + 1) × step) of unix seconds; `first` to `last`, both counted. */
export type Buckets = { step: number; first: number; last: number }

export const countBuckets = ({ first, last }: Buckets): number => Math.max(0, last - first + 1)

/** Buckets that meet [from, to]. */
export function meetingBuckets(step: number, from: Date, to: Date): Buckets {
  const bucketOf = (at: Date) => Math.floor(at.getTime() / 1000 / step)
  return { step, first: bucketOf(from), last: bucketOf(to) }
}

/** Buckets that lie wholly inside [from, to]. */
export function insideBuckets(step: number, from: Date, to: Date): Buckets {
  const [first, end] = [Math.ceil(from.getTime() / 1000 / step), Math.floor(to.getTime() / 1000 / step)]
  return { step, first, last: end - 1 }
}

/** The instants at which buckets begin. */
export function startsOf({ step, first, last }: Buckets): Date[] {
  return Array.from(
    { length: countBuckets({ step, first, last }) },
    (_, index) => new Date((first + index) * step * 1000),
  )
}

/** For every bucket the last value known at its end: its own, else the one before it, `initial` before the first. */
export function carryForward<T>(buckets: Buckets, rows: readonly { bucket: number; value: T }[], initial: T): T[] {
  const values = new Map(rows.map(({ bucket, value }) => [bucket, value]))
  let held = initial
  return Array.from({ length: countBuckets(buckets) }, (_, index) => {
    const own = values.get(buckets.first + index)
    if (own !== undefined) held = own
    return held
  })
}
