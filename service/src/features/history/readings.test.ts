import { expect, it } from 'vitest'
import { parseReadings } from './readings.js'

const line = (at: number, block: number, price = '1.5') =>
  `${at} ${block} 1000 900 1000000 6 ${price} ${'ab'.repeat(32)}`

it('readings are read oldest first, each block once, however their lines come', () => {
  const lines = [line(30, 3), line(10, 1, '-'), line(30, 3), line(20, 2), line(10, 1, '-')]
  const read = parseReadings(lines.join('\n'))
  expect(read.map(({ at, blockNumber }) => [at, blockNumber])).toEqual([
    [10, 1],
    [20, 2],
    [30, 3],
  ])
  expect(read.map(({ priceUsd }) => priceUsd === undefined)).toEqual([true, false, false])
  expect(read[2]).toMatchObject({
    totalAssets: '1000',
    totalSupply: '900',
    priceNumerator: '1000000',
    priceExponent: 6,
  })
  expect(parseReadings('')).toEqual([])
})
