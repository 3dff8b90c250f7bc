import { expect, it } from 'vitest'
import { listGrowth } from './points.js'
import type { Reading } from './readings.js'

const hour = 3_600
const reading = (at: number): Reading => ({
  ...{ at, blockNumber: at, totalAssets: '1000', totalSupply: '1000', priceExponent: 6 },
  ...{ priceNumerator: String(1_000_000 + at), priceUsd: undefined, blockHash: '-' },
})
const readings = [0, 1, 2, 3, 4].map((hours) => reading(hours * hour))
const range = { startMs: 0, endMs: 4 * hour * 1_000, step: hour, apyInterval: hour }
const trust = { dustFloor: 0n, pauses: [], isPriced: false }
/** The hours that have a rate where the source measures from one instant to another. */
const hoursOf = (fromMs: number, toMs: number) =>
  listGrowth(readings, range, trust, { source: 'share-price', fromMs, toMs }).map(({ to }) => to.at / hour)

it('gives no rate at the very instant its source ends', () => {
  const end = 3 * hour * 1_000
  expect(hoursOf(Number.NEGATIVE_INFINITY, end + 1)).toEqual([1, 2, 3])
  expect(hoursOf(Number.NEGATIVE_INFINITY, end)).toEqual([1, 2])
})

it('gives a rate at the very instant its source begins', () => {
  const begin = 2 * hour * 1_000
  expect(hoursOf(begin, Number.POSITIVE_INFINITY)).toEqual([2, 3, 4])
  expect(hoursOf(begin + 1, Number.POSITIVE_INFINITY)).toEqual([3, 4])
})
