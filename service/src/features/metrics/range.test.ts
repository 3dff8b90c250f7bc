import { expect, it } from 'vitest'
import { EarnError } from '../../kernel/errors.js'
import { readRange } from './range.js'

const now = new Date('2026-11-20T12:00:00Z')
const day = 86_400
const iso = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString()
const future = 'startDate lies in the future; ask for an earlier one'
const reversed = 'startDate is after endDate'
const old = 'startDate is more than 365 days ago; ask for a later one'

/** Start, end, what is read; seconds from now. */
it.each<[number, number | undefined, [number, number] | string]>([
  [-60, -30, [-60, -30]],
  [-30, -30, [-30, -30]],
  [-60, undefined, [-60, 0]],
  [-60, 3_600, [-60, 0]],
  [0, undefined, [0, 0]],
  [59, undefined, [0, 0]],
  [60, 3_600, [0, 0]],
  [60, 30, [0, 0]],
  [61, 3_600, future],
  [61, undefined, future],
  [61, -3_600, future],
  [day, 2 * day, future],
  [30, -1, reversed],
  [-30, -60, reversed],
  [-365 * day - 60, 0, [-365 * day - 60, 0]],
  [-365 * day - 61, 0, old],
])('reads a range from %s to %s seconds from now as %j', (start, end, expected) => {
  const input = { startDate: iso(start), endDate: end === undefined ? undefined : iso(end) }
  if (typeof expected === 'string') {
    expect(() => readRange(input, now)).toThrow(expected)
    expect(() => readRange(input, now)).toThrow(EarnError)
  } else {
    const { from, to } = readRange(input, now)
    expect([from.toISOString(), to.toISOString()]).toEqual(expected.map(iso))
  }
})

it('reaches as far back as anybody likes where no year is the bound', () => {
  expect(readRange({ startDate: iso(-1_000 * day) }, now, { isYear: false }).from.toISOString()).toBe(iso(-1_000 * day))
})

it('names the instant that is none', () => {
  expect(() => readRange({ startDate: 'soon' }, now)).toThrow('startDate must be an RFC 3339 date-time')
  expect(() => readRange({ startDate: iso(-60), endDate: 'late' }, now)).toThrow(
    'endDate must be an RFC 3339 date-time',
  )
})
