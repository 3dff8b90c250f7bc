import { describe, expect, it } from 'vitest'
import { listMonths, rangeOf } from './month.js'

const now = Date.parse('2026-11-20T12:34:56Z')

describe('the months of a wallet', () => {
  it('go from the present one back to that of its first deposit, by UTC', () => {
    const first = ['2026-10-03T00:00:00Z', null, '2026-08-31T23:59:59Z']
    expect(listMonths(first, now)).toEqual(['2026-11', '2026-10', '2026-09', '2026-08'])
    expect(listMonths(['2026-11-01T00:00:00Z'], now)).toEqual(['2026-11'])
    expect(listMonths(['2025-12-31T23:59:59Z'], Date.parse('2026-01-01T00:00:00Z'))).toEqual(['2026-01', '2025-12'])
  })

  it('are none without a deposit, and two years at most', () => {
    expect(listMonths([], now)).toEqual([])
    expect(listMonths([null], now)).toEqual([])
    const many = listMonths(['2019-01-01T00:00:00Z'], now)
    expect([many.length, many[0], many.at(-1)]).toEqual([24, '2026-11', '2024-12'])
  })
})

describe('the range of a month', () => {
  it('is the whole month, so that one begins where the last one ends', () => {
    expect(rangeOf('2026-10', now)).toEqual({
      earnedFrom: '2026-10-01T00:00:00.000Z',
      earnedTo: '2026-11-01T00:00:00.000Z',
    })
    expect(rangeOf('2025-12', now)?.earnedTo).toBe(rangeOf('2026-01', now)?.earnedFrom)
  })

  it('ends with the minute that began last in the present one, and is none for one to come or a text that is no month', () => {
    expect(rangeOf('2026-11', now)?.earnedTo).toBe('2026-11-20T12:34:00.000Z')
    for (const month of ['2026-12', '2026-13', '2026-00', '2026-1', 'october', ''])
      expect(rangeOf(month, now)).toBeUndefined()
  })
})
