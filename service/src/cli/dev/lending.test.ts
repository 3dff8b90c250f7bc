import { expect, it } from 'vitest'
import { readLending } from './lending.js'

it('has no lending market where its package is not installed, so that the devnet goes without one', () => {
  expect(readLending('file:///nowhere/main.js')).toBeUndefined()
  expect(Object.keys(readLending() ?? {})).toHaveLength(18)
})
