import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseFitting, computeRoom, findRefusal, formatBudgetHeaders, secondsToNext, windowsAt } from './budget.js'

const at = (text: string) => new Date(text)
const allowance = (hourlyUnits: number, monthlyUnits: number | null = null) => ({
  keyId: 'k',
  hourlyUnits,
  monthlyUnits,
})
const used = (hourUsed: number, monthUsed: number) => ({
  ...windowsAt(at('2026-11-20T12:34:56Z')),
  hourUsed,
  monthUsed,
})

describe('budget windows', () => {
  it('are the UTC hour and the UTC calendar month', () => {
    expect(windowsAt(at('2026-12-31T23:59:59.999Z'))).toEqual({
      hourAt: at('2026-12-31T23:00:00Z'),
      monthAt: at('2026-12-01T00:00:00Z'),
    })
    expect(windowsAt(at('2027-01-01T00:00:00Z'))).toEqual({
      hourAt: at('2027-01-01T00:00:00Z'),
      monthAt: at('2027-01-01T00:00:00Z'),
    })
  })

  it('say in whole seconds when the next one begins', () => {
    const now = at('2026-11-20T12:34:56Z')
    expect(secondsToNext('hourly', windowsAt(now), now)).toBe(25 * 60 + 4)
    expect(secondsToNext('monthly', windowsAt(now), now)).toBe(
      (at('2026-12-01T00:00:00Z').getTime() - now.getTime()) / 1000,
    )
    const late = at('2026-12-31T23:59:59.999Z')
    expect(secondsToNext('hourly', windowsAt(late), late)).toBe(1)
    expect(secondsToNext('monthly', windowsAt(late), late)).toBe(1)
  })
})

describe('what fits', () => {
  it('is bounded by the tighter of hour and month', () => {
    expect(computeRoom(allowance(100), used(40, 9_999))).toBe(60)
    expect(computeRoom(allowance(100, 1_000), used(40, 980))).toBe(20)
    expect(computeRoom(allowance(100, 1_000), used(140, 980))).toBe(0)
  })

  it('names the month when it refuses, else the hour', () => {
    expect(findRefusal(allowance(100, 1_000), used(100, 100), 1)).toBe('hourly')
    expect(findRefusal(allowance(100, 1_000), used(100, 1_000), 1)).toBe('monthly')
    expect(findRefusal(allowance(100), used(100, 1_000), 1)).toBe('hourly')
  })

  it('leaves no room that one of the refused could have used, whatever the costs', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 2, 3, 5, 10)), fc.integer({ min: 0, max: 60 }), (costs, room) => {
        const waiting = costs.map((units) => ({ units }))
        const chosen = chooseFitting(waiting, room)
        const left = room - chosen.reduce((sum, { units }) => sum + units, 0)
        expect(left).toBeGreaterThanOrEqual(0)
        for (const item of waiting) if (!chosen.includes(item)) expect(item.units).toBeGreaterThan(left)
      }),
    )
  })
})

describe('limit headers', () => {
  it('tell the month only when it is capped, and never a negative rest', () => {
    expect(formatBudgetHeaders(allowance(100), used(40, 50))).toEqual({
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '60',
      'X-RateLimit-Used': '40',
    })
    expect(formatBudgetHeaders(allowance(10, 30), used(40, 50))).toEqual({
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Used': '40',
      'X-Monthly-Limit': '30',
      'X-Monthly-Usage': '50',
      'X-Monthly-Remaining': '0',
    })
  })
})
