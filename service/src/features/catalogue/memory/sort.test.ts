import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runAtOnce } from '../../../kernel/async/inSlices.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { sortInSteps, sortPositions } from './sort.js'

const orders = ['asc', 'desc'] as const

describe('a sort by TVL', () => {
  it.each(orders)('puts a figure that was never read last (%s), though a number is kept', (order) => {
    const at = new Date('2026-11-20T12:00:00Z')
    const records = [
      { tvlUsd: '5', analyticsAt: null },
      { tvlUsd: '3', analyticsAt: at },
      { tvlUsd: '9', analyticsAt: at },
      { tvlUsd: null, analyticsAt: at },
    ] as OpportunityRecord[]
    const known = order === 'asc' ? [1, 2] : [2, 1]
    expect([...sortPositions(records, 'tvl', order)]).toEqual([...known, 0, 3])
  })
})

describe('a sort in steps', () => {
  const aprs = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 600 })
  const toRecords = (values: readonly number[]) => values.map((estimatedApr) => ({ estimatedApr }) as OpportunityRecord)
  const plain = (values: readonly number[], sign: number) =>
    [...values.keys()].sort((a, b) => sign * ((values[a] ?? 0) - (values[b] ?? 0)) || a - b)

  it('is the plain sort, whatever order it starts from', () => {
    fc.assert(
      fc.property(aprs, aprs, fc.constantFrom(...orders), (values, others, order) => {
        const before = sortPositions(toRecords(others), 'apr', order)
        const sorted = runAtOnce(sortInSteps(toRecords(values), 'apr', order, before))
        expect([...sorted]).toEqual(plain(values, order === 'asc' ? 1 : -1))
      }),
    )
  })

  it('leaves the order it starts from as it is, for those who still read it', () => {
    const before = sortPositions(toRecords([1, 2, 3]), 'apr', 'asc')
    expect([...runAtOnce(sortInSteps(toRecords([3, 2, 1]), 'apr', 'asc', before))]).toEqual([2, 1, 0])
    expect([...before]).toEqual([0, 1, 2])
  })

  it('stops often: at least every 512 comparisons', () => {
    const records = toRecords(Array.from({ length: 4_096 }, (_, index) => (index * 7_919) % 4_096))
    let comparisons = 0
    let most = 0
    const counted = records.map(({ estimatedApr }) => {
      const key = {
        valueOf: () => {
          comparisons += 1
          return estimatedApr
        },
      }
      return { estimatedApr: key as unknown as number } as OpportunityRecord
    })
    for (const steps = sortInSteps(counted, 'apr', 'asc'); ; ) {
      comparisons = 0
      if (steps.next().done) break
      most = Math.max(most, comparisons)
    }
    // A comparison reads each of two keys at most twice.
    expect(most).toBeLessThanOrEqual(512 * 4)
    expect(most).toBeGreaterThan(0)
  })
})
