import { describe, expect, it } from 'vitest'
import { getDeadline, getValidUntil } from './finishAction.js'

describe('the deadline of a router', () => {
  const createdAt = new Date('2026-11-20T12:00:00.400Z')
  const now = Date.UTC(2026, 10, 20, 12) / 1_000

  it('counts from the later of the wall clock and the time of the head', () => {
    expect(getDeadline(createdAt, { timestamp: now - 86_400 })).toBe(BigInt(now + 600))
    expect(getDeadline(createdAt, { timestamp: now + 86_400 })).toBe(BigInt(now + 86_400 + 600))
    expect(getDeadline(createdAt, { timestamp: now }, 60)).toBe(BigInt(now + 60))
  })

  it('is never before the plan may be signed no more', () => {
    for (const ahead of [-100, 0, 1, 100]) {
      const until = Math.floor(getValidUntil(createdAt, 90).getTime() / 1_000)
      expect(getDeadline(createdAt, { timestamp: now + ahead }, 90)).toBeGreaterThanOrEqual(BigInt(until))
    }
  })
})
