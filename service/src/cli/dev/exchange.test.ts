import { expect, it } from 'vitest'
import { readExchange } from './exchange.js'

it('has no exchange where its packages are not installed, so that the devnet goes without swaps', () => {
  expect(readExchange('file:///nowhere/main.js')).toBeUndefined()
  expect(Object.keys(readExchange() ?? {})).toHaveLength(7)
})
