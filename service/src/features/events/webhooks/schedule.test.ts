import { describe, expect, it } from 'vitest'
import { findEnd, pauseAfter } from './schedule.js'

describe('tries of an event', () => {
  it('come after pauses that grow, with up to a fifth of jitter, for at most five days', () => {
    const least = Array.from({ length: 10 }, (_, index) => pauseAfter(index + 1, () => 0) ?? 0)
    expect(least).toEqual(
      [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400].map((seconds) => seconds * 1_000),
    )
    expect([...least].sort((a, b) => a - b)).toEqual(least)
    const most = Array.from({ length: 10 }, (_, index) => pauseAfter(index + 1, () => 1) ?? 0)
    expect(most[0]).toBe(6_000)
    expect(most.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(5 * 86_400_000)
    expect(pauseAfter(11)).toBeNull()
  })
})

describe('a webhook', () => {
  const at = new Date('2026-11-20T12:00:00Z')
  const before = (ms: number) => ({ since: new Date(at.getTime() - ms), at })
  it('is disabled at once by 410, and after three days of failures, not a millisecond earlier', () => {
    expect(findEnd({ status: 410, error: 'x' }, before(0))).toMatch(/410/)
    expect(findEnd({ status: 500, error: 'x' }, before(3 * 86_400_000 - 1))).toBeUndefined()
    expect(findEnd({ status: null, error: 'no answer' }, before(3 * 86_400_000))).toMatch(/three days.*no answer/)
  })
})
