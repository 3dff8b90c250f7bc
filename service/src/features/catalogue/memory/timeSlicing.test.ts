import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../kernel/clock.js'
import { mapInSteps, runAtOnce, runInSlices, type Steps } from './timeSlicing.js'

afterEach(() => vi.restoreAllMocks())

describe('runInSlices', () => {
  it('lets others run after every few steps, however long the whole takes', async () => {
    let nowMs = 0
    let turns = 0
    vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => nowMs)
    vi.spyOn(systemClock, 'sleep').mockImplementation(async () => {
      turns += 1
    })
    /** `count` steps of a millisecond of work each. */
    function* work(count: number): Steps<number> {
      for (let step = 0; step < count; step++) {
        nowMs += 1
        yield
      }
      return count
    }
    expect(await runInSlices(work(60))).toBe(60)
    expect(turns).toBeGreaterThanOrEqual(20)
  })

  it('passes on what the work throws', async () => {
    function* failing(): Steps<never> {
      yield
      throw new Error('broken')
    }
    await expect(runInSlices(failing())).rejects.toThrow('broken')
    expect(() => runAtOnce(failing())).toThrow('broken')
  })
})

describe('mapInSteps', () => {
  it('is map, with a stop at least after every 20 items', () => {
    const steps = mapInSteps(Array.from({ length: 100 }).keys(), (item, index) => item * 2 + index)
    let stops = 0
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        expect(step.value).toEqual(Array.from({ length: 100 }, (_, index) => index * 3))
        break
      }
      stops++
    }
    expect(stops).toBe(5)
  })
})
