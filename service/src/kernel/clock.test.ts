import { describe, expect, it, vi } from 'vitest'
import { systemClock } from './clock.js'

describe('the clock of the system', () => {
  it('tells the present instant, and a time that never runs backwards', () => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), toFake: ['Date', 'performance'] })
    try {
      expect(systemClock.now()).toEqual(new Date('2026-01-01T00:00:00Z'))
      const begun = systemClock.monotonicMs()
      vi.advanceTimersByTime(250)
      expect(systemClock.monotonicMs() - begun).toBe(250)
    } finally {
      vi.useRealTimers()
    }
  })

  it('sleeps until its time, or until it is told to stop, and then leaves nothing behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      let isAwake = false
      const asleep = systemClock.sleep(1_000).then(() => {
        isAwake = true
      })
      await vi.advanceTimersByTimeAsync(999)
      expect(isAwake).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      await asleep

      const stop = new AbortController()
      const removed = vi.spyOn(stop.signal, 'removeEventListener')
      const stopped = systemClock.sleep(1_000, stop.signal)
      stop.abort()
      await stopped
      expect([vi.getTimerCount(), removed.mock.calls.length]).toEqual([0, 1])
      await systemClock.sleep(1_000, stop.signal)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
