import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeClock } from '../../kernel/clock.js'
import { type Step, startBudget, TooLate } from './budget.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => undefined)

describe('the time of a portfolio', () => {
  it.each<[Step, number, number]>([
    ['head', 0, 300],
    ['head', 800, 200],
    ['ask', 100, 300],
    ['read', 0, 900],
    ['read', 500, 400],
    ['read', 950, 0],
    ['price', 0, 1_000],
    ['price', 950, 50],
    ['price', 1_200, 0],
    ['earnings', 50, 900],
  ])('gives the step %s, begun after %i ms of 1,000, %i ms', async (step, afterMs, ms) => {
    const clock = fakeClock('2026-11-20T12:00:00Z')
    const budget = startBudget(clock, 1_000)
    clock.advance(afterMs)
    let gaveUp: unknown
    budget.within(never, step).catch((error) => {
      gaveUp = error
    })
    await vi.advanceTimersByTimeAsync(Math.max(0, ms - 1))
    if (ms > 0) expect(gaveUp).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(gaveUp).toBeInstanceOf(TooLate)
  })

  it('gives what came in time, and the failure of what failed', async () => {
    const budget = startBudget(fakeClock('2026-11-20T12:00:00Z'), 1_000)
    expect(await budget.within(Promise.resolve(7), 'read')).toBe(7)
    await expect(budget.within(Promise.reject(new Error('ours')), 'read')).rejects.toThrow('ours')
    expect(vi.getTimerCount()).toBe(0)
  })
})
