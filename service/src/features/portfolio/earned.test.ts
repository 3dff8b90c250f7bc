import { expect, it } from 'vitest'
import type { CatalogueSnapshot } from '../catalogue/index.js'
import { toEarned } from './earned.js'

it('what has no share price yet is named once a chain, with those of that chain alone', () => {
  const snapshot = { opportunities: new Map([['b', { name: 'Bread' }]]) } as unknown as CatalogueSnapshot
  const unvalued = [
    { chainId: 1, opportunityId: 'a' },
    { chainId: 2, opportunityId: 'b' },
    { chainId: 1, opportunityId: 'c' },
  ]
  expect(toEarned(snapshot, { earnings: [], unvalued })).toEqual({
    rows: [],
    problems: [
      { chainId: 1, source: 'earnings', error: 'no share price is known yet of a, c' },
      { chainId: 2, source: 'earnings', error: 'no share price is known yet of Bread' },
    ],
  })
})
