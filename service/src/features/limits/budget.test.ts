import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chooseFitting,
  computeRoom,
  findRefusal,
  formatBudgetHeaders,
  secondsToNext,
  sumUp,
  sumUpByNetwork,
  windowsAt,
} from './budget.js'

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

  it('names the address where less is left to it than of the hour, and its share is what the headers tell', () => {
    const address = { network: 'a', units: 20 }
    const state = (hourUsed: number, ofAddress: number) => ({
      ...used(hourUsed, 5),
      byNetwork: new Map([['a', ofAddress]]),
    })
    expect(findRefusal(allowance(100), state(50, 20), 1, address)).toBe('ip')
    expect(findRefusal(allowance(100), state(100, 20), 1, address)).toBe('hourly')
    expect(findRefusal(allowance(100, 5), state(50, 20), 1, address)).toBe('monthly')
    expect(formatBudgetHeaders(allowance(100), state(50, 18), address)).toMatchObject({
      'X-RateLimit-Limit': '20',
      'X-RateLimit-Remaining': '2',
      'X-RateLimit-Used': '18',
    })
    expect(formatBudgetHeaders(allowance(100), state(98, 18), address)).toMatchObject({ 'X-RateLimit-Used': '98' })
  })

  const asks = fc.array(
    fc.record({
      units: fc.constantFrom(0, 1, 2, 3, 5, 10),
      failed: fc.boolean(),
      network: fc.constantFrom(undefined, 'a', 'b'),
    }),
  )
  const toAsk =
    (room: number, share: number) => (ask: { units: number; failed: boolean; network?: string | undefined }) => ({
      units: ask.units,
      taken: ask.failed ? Math.min(1, ask.units) : ask.units,
      allowance: { ...allowance(room), address: ask.network ? { network: ask.network, units: share } : undefined },
    })
  const taken = (of: readonly { taken: number }[]) => of.reduce((sum, ask) => sum + ask.taken, 0)

  it('leaves no room that one of the refused could have used, whatever the costs, shares and failures', () => {
    fc.assert(
      fc.property(asks, fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 30 }), (list, room, share) => {
        const waiting = list.map(toAsk(room, share))
        const chosen = chooseFitting(waiting, allowance(room), used(0, 0))
        const leftTo = (network: string | undefined) =>
          network === undefined
            ? room - taken(chosen)
            : share - taken(chosen.filter((ask) => ask.allowance.address?.network === network))
        for (const network of [undefined, 'a', 'b']) expect(leftTo(network)).toBeGreaterThanOrEqual(0)
        for (const ask of waiting) {
          if (chosen.includes(ask)) continue
          const address = ask.allowance.address
          const least = address ? Math.min(leftTo(undefined), leftTo(address.network)) : leftTo(undefined)
          expect(ask.units).toBeGreaterThan(least)
        }
      }),
    )
  })

  it('is charged together exactly where each would be alone: the room needed is that of the dearest moment', () => {
    fc.assert(
      fc.property(asks, fc.integer({ min: 0, max: 60 }), (list, room) => {
        const waiting = list.map(toAsk(room, 1_000)).filter(({ units }) => units > 0)
        const sum = sumUp(waiting)
        expect(sum.taken).toBe(taken(waiting))
        const allFit = chooseFitting(waiting, allowance(room), used(0, 0)).length === waiting.length
        expect(sum.units <= room).toBe(allFit)
      }),
    )
  })

  it('sums up per network, with the limit of the latest call', () => {
    const of = (network: string, units: number, limit: number) => ({
      units,
      taken: 1,
      allowance: { ...allowance(100), address: { network, units: limit } },
    })
    expect(sumUpByNetwork([of('a', 10, 20), of('b', 3, 20), of('a', 5, 30)])).toEqual([
      { network: 'a', units: 10, taken: 2, limit: 30 },
      { network: 'b', units: 3, taken: 1, limit: 20 },
    ])
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
