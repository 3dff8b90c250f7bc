import { expect, it } from 'vitest'
import type { Buckets } from './buckets.js'
import { listCounts } from './counts.js'

const buckets: Buckets = { step: 3_600, first: 10, last: 13 }
const at = (bucket: number) => new Date(bucket * 3_600_000)
const point = (bucket: number, active: number, participated: number) => ({ bucket, active, participated })

it('counts nobody before anybody came, and carries a count on until the next one', () => {
  expect(listCounts(buckets, [point(11, 3, 4), point(13, 2, 5)])).toEqual([
    { at: at(10), active: 0, participated: 0 },
    { at: at(11), ...point(11, 3, 4) },
    { at: at(12), ...point(11, 3, 4) },
    { at: at(13), ...point(13, 2, 5) },
  ])
})

it('begins with the newest count from before the range', () => {
  const counts = listCounts(buckets, [point(3, 1, 1), point(8, 6, 7), point(12, 5, 8)])
  expect(counts.map(({ active, participated }) => [active, participated])).toEqual([
    [6, 7],
    [6, 7],
    [5, 8],
    [5, 8],
  ])
})
