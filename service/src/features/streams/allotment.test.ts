import { expect, it } from 'vitest'
import { allotSnapshots, computeShownCost } from './allotment.js'

/** Snapshots of streams; how many of each are shown, which are cut, and what that costs. */
it.each<[number[], number[], boolean[], number]>([
  [[], [], [], 0],
  [[0, 3], [0, 3], [false, false], 0],
  [[100, 101], [100, 100], [false, true], 0],
  [Array(5).fill(100), Array(5).fill(100), Array(5).fill(false), 1],
  [[99, ...Array(4).fill(101)], [99, 100, 100, 100, 100], [false, true, true, true, true], 0],
  [Array(20).fill(100), Array(20).fill(100), Array(20).fill(false), 4],
  [[50, ...Array(20).fill(101), 0], [50, ...Array(19).fill(100), 50, 0], [false, ...Array(20).fill(true), false], 4],
  [Array(21).fill(101), [...Array(20).fill(100), 0], Array(21).fill(true), 4],
])('of %j snapshots shows %j', (counts, shown, truncated, cost) => {
  const allotments = allotSnapshots(counts.map((count, at) => ({ streamId: String(at), count })))
  expect(allotments.map((each) => each.shown)).toEqual(shown)
  expect(allotments.map((each) => each.isTruncated)).toEqual(truncated)
  expect(computeShownCost(allotments)).toBe(cost)
})
