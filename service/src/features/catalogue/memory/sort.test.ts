import { describe, expect, it } from 'vitest'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { sortPositions } from './sort.js'

describe('a sort by TVL', () => {
  it.each(['asc', 'desc'] as const)('puts a figure that was never read last (%s), though a number is kept', (order) => {
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
