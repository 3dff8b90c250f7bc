import { expect, it } from 'vitest'
import { defaultVetoSeconds } from './jobs.js'

it('a root waits an hour for a veto wherever a chain beside the devnet is served', () => {
  expect(defaultVetoSeconds([31337])).toBe(0)
  expect(defaultVetoSeconds([31337, 1])).toBe(3_600)
  expect(defaultVetoSeconds([1])).toBe(3_600)
})
