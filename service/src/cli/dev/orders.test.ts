import { expect, it } from 'vitest'
import { readSettlement } from './orders.js'

it('has no settlement contract where its package is not installed, so that the devnet goes without orders', () => {
  expect(readSettlement('file:///nowhere/main.js')).toBeUndefined()
  expect(Object.keys(readSettlement() ?? {})).toHaveLength(2)
})
