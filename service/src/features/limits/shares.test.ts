import { describe, expect, it } from 'vitest'
import { type Ask, computeAddressRoom, findRefusal, formatBudgetHeaders, sumUpByNetwork, windowsAt } from './budget.js'
import { formatCanonicalJson, parseIdempotencyKey, readHeldUntil } from './idempotency.js'

const now = new Date('2026-11-20T12:34:56Z')
const allowance = { keyId: 'k', hourlyUnits: 1_000, monthlyUnits: 5_000 }
const address = { network: 'n', units: 100 }
const used = (hourUsed: number, monthUsed: number, byNetwork?: number) => ({
  ...windowsAt(now),
  hourUsed,
  monthUsed,
  byNetwork: byNetwork === undefined ? undefined : new Map([['n', byNetwork]]),
})

describe('the share of an address', () => {
  it('is less by what the address used, and never below 0', () => {
    expect(computeAddressRoom(address, used(0, 0, 30))).toBe(70)
    expect(computeAddressRoom(address, used(0, 0, 130))).toBe(0)
    expect(computeAddressRoom({ ...address, network: 'other' }, used(0, 0, 30))).toBe(100)
  })

  it('is told as unused where nothing is known of the address yet', () => {
    expect(formatBudgetHeaders(allowance, used(10, 10), address)).toMatchObject({
      'X-RateLimit-Limit': '100',
      'X-RateLimit-Remaining': '100',
      'X-RateLimit-Used': '0',
    })
  })

  it('counts the calls of addresses that have one, each for its own network', () => {
    const ask = (network: string | undefined, units: number): Ask => ({
      allowance: { ...allowance, address: network === undefined ? undefined : { network, units: 7 } },
      units,
      taken: units,
    })
    expect(sumUpByNetwork([ask('n', 3), ask(undefined, 5), ask('m', 1), ask('n', 2)])).toEqual([
      { network: 'n', limit: 7, units: 5, taken: 5 },
      { network: 'm', limit: 7, units: 1, taken: 1 },
    ])
  })
})

describe('the month of a key', () => {
  it('refuses the unit after the last, not the last', () => {
    expect(findRefusal(allowance, used(1_000, 4_990), 10)).toBe('hourly')
    expect(findRefusal(allowance, used(1_000, 4_990), 11)).toBe('monthly')
  })
})

describe('an idempotency key', () => {
  it('that holds a quoted part is bare: all of it is the key', () => {
    expect(parseIdempotencyKey('x"abc"')).toBe('x"abc"')
    expect(parseIdempotencyKey('"abc"')).toBe('abc')
  })
})

describe('the canonical form of a body', () => {
  it('has its members in the order of their names, whatever order they came in', () => {
    expect(formatCanonicalJson({ c: 1, a: { z: 1, y: [{ f: 2, e: 1 }] }, b: null })).toBe(
      '{"a":{"y":[{"e":1,"f":2}],"z":1},"b":null,"c":1}',
    )
  })
})

describe('until when an answer holds', () => {
  it('is not told by a member that is no text', () => {
    expect(readHeldUntil({ validUntil: '2026-11-20T12:00:00Z' })).toEqual(new Date('2026-11-20T12:00:00Z'))
    expect(readHeldUntil({ validUntil: ['2026-11-20T12:00:00Z'] })).toBeUndefined()
  })
})
