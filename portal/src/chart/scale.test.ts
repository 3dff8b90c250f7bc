import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../service/test/seed.js'
import { createPortalFigures } from '../figures.js'
import { findNearest, findPause, type Point, thin, toRange, toRuns, toTicks, writeTicks } from './scale.js'

const points = (...values: number[]): Point[] => values.map((value, index) => ({ at: index * 1_000, value }))

describe('the axis of a chart', () => {
  it('has lines at round values within the range', () => {
    expect(toTicks(0, 10, 4)).toEqual([0, 2.5, 5, 7.5, 10])
    expect(toTicks(-1.3, 1.2, 4)).toEqual([-1, 0, 1])
    expect(toTicks(1_000_000, 1_000_900, 4)).toEqual([1_000_000, 1_000_250, 1_000_500, 1_000_750])
    for (const [least, most] of [
      [5, 5],
      [0, Number.NaN],
      [Number.NaN, 1],
      [0, Number.POSITIVE_INFINITY],
    ] as const)
      expect(toTicks(least, most, 4).length, `${least} ${most}`).toBeLessThanOrEqual(1)
  })

  it('names lines that stand close together by texts that differ, with as few digits as that takes', () => {
    const write = createPortalFigures('en-US')
    expect(writeTicks(toTicks(4, 6, 4), write.percent)).toEqual(['4.00%', '4.50%', '5.00%', '5.50%', '6.00%'])
    expect(writeTicks([5.126, 5.128, 5.13], write.percent)).toEqual(['5.126%', '5.128%', '5.130%'])
    expect(writeTicks([237_200, 237_240], write.shortUsd)).toEqual(['$237.20K', '$237.24K'])
    expect(writeTicks([1.00838, 1.00839], write.tokens)).toEqual(['1.00838', '1.00839'])
    // Equal numbers stay equal.
    expect(writeTicks([1, 1], write.percent)).toEqual(['1.000000000000%', '1.000000000000%'])
  })

  it('shows a little more than there is; a flat line in its middle, none below zero where nothing is', () => {
    expect(toRange(points(10, 20))).toEqual({ least: 9.2, most: 20.8 })
    const flat = toRange(points(5, 5))
    expect((flat.least + flat.most) / 2).toBeCloseTo(5)
    expect(toRange(points(0, 100)).least).toBe(0)
    expect(toRange(points(-4, 4)).least).toBeLessThan(-4)
    expect(toRange([])).toEqual({ least: 0, most: 1 })
  })
})

describe('a point of a chart', () => {
  it('is the nearest in time', () => {
    const list = points(1, 2, 3)
    expect([-5, 0, 499, 501, 1_400, 9_999].map((at) => findNearest(list, at))).toEqual([0, 0, 0, 1, 1, 2])
    expect(findNearest([], 3)).toBe(-1)
  })
})

describe('a long line', () => {
  it('keeps the least and the greatest of each column, its ends and its order', () => {
    const random = seededRandom()
    const list = Array.from({ length: 100_000 }, (_, index) => ({ at: index * 900_000, value: random.next() }))
    const thinned = thin(list, 800)
    expect(thinned.length).toBeLessThanOrEqual(4 * 801)
    const values = (each: readonly Point[]) => each.map(({ value }) => value)
    expect(Math.max(...values(thinned))).toBe(values(list).reduce((a, b) => Math.max(a, b)))
    expect(Math.min(...values(thinned))).toBe(values(list).reduce((a, b) => Math.min(a, b)))
    expect([thinned[0], thinned.at(-1)]).toEqual([list[0], list.at(-1)])
    expect(thinned.every(({ at }, index) => index === 0 || at > (thinned[index - 1]?.at ?? 0))).toBe(true)
    expect(thin(points(1, 2, 3), 800)).toHaveLength(3)
  })

  it('is broken where buckets are missing', () => {
    const list = [0, 1, 2, 3, 10, 11].map((hour) => ({ at: hour * 3_600_000, value: 1 }))
    expect(findPause(list)).toBe(6 * 3_600_000)
    expect(toRuns(list)).toEqual([list.slice(0, 4), list.slice(4)])
    expect([toRuns([]), toRuns(points(1))]).toEqual([[], [points(1)]])
    const long = Array.from({ length: 20_000 }, (_, at) => ({
      at: (at + (at < 15_000 ? 0 : 500)) * 900_000,
      value: at,
    }))
    expect(toRuns(long).map((run) => run.length)).toEqual([15_000, 5_000])
    expect(findPause(points(1, 2))).toBe(Number.POSITIVE_INFINITY)
  })
})
