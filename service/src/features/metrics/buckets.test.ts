import { describe, expect, it } from 'vitest'
import { carryForward, countBuckets, insideBuckets, meetingBuckets, startsOf } from './buckets.js'
import { listCounts } from './counts.js'
import { assertFew, readBuckets } from './selection.js'

const at = (seconds: number) => new Date(seconds * 1000)

describe('buckets of a series', () => {
  it('that meet a range are those its two ends lie in and all between', () => {
    expect(meetingBuckets(900, at(900), at(2_700))).toEqual({ step: 900, first: 1, last: 3 })
    expect(meetingBuckets(900, at(899), at(2_699))).toEqual({ step: 900, first: 0, last: 2 })
  })

  it('that lie inside a range begin and end in it', () => {
    expect(insideBuckets(900, at(900), at(2_700))).toEqual({ step: 900, first: 1, last: 2 })
    expect(insideBuckets(900, at(901), at(2_699))).toEqual({ step: 900, first: 2, last: 1 })
  })

  it('begin at multiples of their step, as many as are counted; a range that holds none has none', () => {
    expect(startsOf({ step: 900, first: 2, last: 4 })).toEqual([at(1_800), at(2_700), at(3_600)])
    expect([countBuckets({ step: 900, first: 2, last: 4 }), countBuckets({ step: 900, first: 2, last: 0 })]).toEqual([
      3, 0,
    ])
    expect(startsOf({ step: 900, first: 2, last: 0 })).toEqual([])
  })

  it('without a value of their own have the one before, and before the first what held until then', () => {
    const rows = [
      { bucket: 3, value: 'c' },
      { bucket: 5, value: 'e' },
    ]
    expect(carryForward({ step: 1, first: 2, last: 6 }, rows, 'a')).toEqual(['a', 'c', 'c', 'e', 'e'])
  })
})

describe('a series of counts', () => {
  it('begins with the newest count before the range, and with nobody where there is none', () => {
    const points = [
      { bucket: 1, active: 1, participated: 2 },
      { bucket: 2, active: 3, participated: 4 },
      { bucket: 4, active: 5, participated: 6 },
    ]
    expect(listCounts({ step: 10, first: 3, last: 5 }, points)).toMatchObject([
      { at: at(30), active: 3, participated: 4 },
      { at: at(40), active: 5, participated: 6 },
      { at: at(50), active: 5, participated: 6 },
    ])
    expect(listCounts({ step: 10, first: 2, last: 2 }, points)).toMatchObject([{ active: 3, participated: 4 }])
    expect(listCounts({ step: 10, first: 0, last: 1 }, points)).toMatchObject([
      { at: at(0), active: 0, participated: 0 },
      { active: 1, participated: 2 },
    ])
  })
})

describe('the range of a series', () => {
  const now = new Date('2026-11-20T12:00:00Z')
  const input = (startDate: string, step?: number) => ({
    ...{ distributorId: 'd', startDate, endDate: '2026-11-20T12:00:00Z' },
    ...(step === undefined ? {} : { step }),
  })

  it('has buckets of 15 minutes where no step is asked for, and may begin years ago', () => {
    expect(countBuckets(readBuckets(input('2026-11-20T11:00:00Z'), now).buckets)).toBe(5)
    expect(countBuckets(readBuckets(input('2020-11-20T12:00:00Z', 31_536_000), now).buckets)).toBe(7)
  })

  it('has at most 50,000 buckets', () => {
    const start = new Date(now.getTime() - 49_999_000).toISOString()
    expect(countBuckets(readBuckets(input(start, 1), now).buckets)).toBe(50_000)
    expect(() => readBuckets(input(new Date(now.getTime() - 50_000_000).toISOString(), 1), now)).toThrow(
      'the range has 50001 buckets at this step; ask for at most 50000, or a larger step',
    )
    expect(() => assertFew({ step: 1, first: 1, last: 3 }, 2)).toThrow('3 buckets')
  })
})
