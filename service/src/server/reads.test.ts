import { expect, it } from 'vitest'
import { fakeClock } from '../kernel/clock.js'
import { createPageMemory } from './reads.js'

it('remembers for ten minutes who served a list, and of the newest ten thousand alone', () => {
  const clock = fakeClock('2026-11-20T12:00:00Z')
  const pages = createPageMemory(clock)
  const list = (n: number) => Buffer.from(`list ${n}`)
  expect(pages.find(list(0))).toBeUndefined()
  pages.keep(list(0), 1)
  expect(pages.find(list(0))).toBe(1)
  pages.keep(list(0), 'primary')
  expect(pages.find(list(0))).toBe('primary')
  clock.advance(600_000)
  expect(pages.find(list(0))).toBeUndefined()
  for (let n = 1; n <= 10_001; n++) pages.keep(list(n), 0)
  expect([list(1), list(2), list(10_001)].map(pages.find)).toEqual([undefined, 0, 0])
})
