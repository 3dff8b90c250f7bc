import { expect, it } from 'vitest'
import { fakeClock } from '../kernel/clock.js'
import { createProgress } from './progress.js'

it('says percent, rate and time left of a chain that catches up, every 10 s and not when it is there', () => {
  const clock = fakeClock('2026-01-01T00:00:00Z')
  const tell = createProgress(clock)
  expect(tell(100, 1_100)).toBeUndefined()
  clock.advance(5_000)
  expect(tell(350, 1_100)).toBe('catching up: 25 %, block 350 of 1100, 50 blocks a second, 15 s left')
  clock.advance(5_000)
  expect(tell(600, 1_100)).toBeUndefined()
  clock.advance(5_000)
  expect(tell(850, 1_100)).toBe('catching up: 75 %, block 850 of 1100, 50 blocks a second, 5 s left')
  clock.advance(60_000)
  expect(tell(1_100, 1_100)).toBeUndefined()
})
