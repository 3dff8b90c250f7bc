import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { sortPositions } from './sort.js'

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

describe('a sort', () => {
  const values = fc.array(fc.option(fc.integer({ min: 0, max: 20 })), { maxLength: 600 })

  it('puts nulls last and equals in the order of their ids, in both orders', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(...orders), (aprs, order) => {
        const records = aprs.map((estimatedApr) => ({ estimatedApr }) as OpportunityRecord)
        const known = [...aprs.keys()].filter((at) => aprs[at] !== null)
        const unknown = [...aprs.keys()].filter((at) => aprs[at] === null)
        const sign = order === 'asc' ? 1 : -1
        known.sort((a, b) => sign * ((aprs[a] ?? 0) - (aprs[b] ?? 0)) || a - b)
        expect([...sortPositions(records, 'apr', order)]).toEqual([...known, ...unknown])
      }),
    )
  })
})
