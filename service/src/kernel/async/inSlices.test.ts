import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../clock.js'
import { inSlices, mapInSteps, runAtOnce, type Steps } from './inSlices.js'

afterEach(() => vi.restoreAllMocks())

describe('inSlices', () => {
  /** Runs 60 steps of half a millisecond each, while others take `othersMs` of every turn. */
  const run = async (othersMs: number) => {
    let nowMs = 0
    let turns = 0
    let pauses = 0
    let isRunning = true
    vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => nowMs)
    vi.spyOn(systemClock, 'sleep').mockImplementation(async () => {
      pauses += 1
    })
    const others = () => {
      turns += 1
      nowMs += othersMs
      if (isRunning) setImmediate(others)
    }
    function* work(): Steps<number> {
      for (let step = 0; step < 60; step++) {
        nowMs += 0.5
        yield
      }
      return 60
    }
    setImmediate(others)
    expect(await inSlices(work())).toBe(60)
    isRunning = false
    return { turns, pauses }
  }

  it('lets others have a turn after every half millisecond, and works on while they have nothing to do', async () => {
    const { turns, pauses } = await run(0)
    expect(turns).toBeGreaterThanOrEqual(59)
    expect(pauses).toBe(0)
  })

  it('leaves requests more of the time while there are some', async () => {
    const { pauses } = await run(1)
    expect(pauses).toBeGreaterThanOrEqual(59)
  })

  it('passes on what the work throws', async () => {
    function* failing(): Steps<never> {
      yield
      throw new Error('broken')
    }
    await expect(inSlices(failing())).rejects.toThrow('broken')
    expect(() => runAtOnce(failing())).toThrow('broken')
  })
})

describe('mapInSteps', () => {
  it('is map, with a stop at least after every 4 items', () => {
    const steps = mapInSteps(Array.from({ length: 100 }).keys(), (item, index) => item * 2 + index)
    let stops = 0
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        expect(step.value).toEqual(Array.from({ length: 100 }, (_, index) => index * 3))
        break
      }
      stops++
    }
    expect(stops).toBe(25)
  })
})
