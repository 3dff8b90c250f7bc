import { describe, expect, it } from 'vitest'
import { seededRandom, times } from '../../../test/seed.js'
import { judgeViews, sumEvents } from './judgeViews.js'

describe('what nodes say of a view', () => {
  it.each([
    ['the only url', 5n, [4n], { said: 4n, urls: 1 }],
    ['the only url, which agrees', 5n, [5n], undefined],
    ['the only url, which cannot tell', 5n, [undefined], undefined],
    ['two urls', 5n, [4n, 4n], { said: 4n, urls: 2 }],
    ['one of two', 5n, [4n, 5n], undefined],
    ['one of two, where the other cannot tell', 5n, [4n, undefined], undefined],
    ['two that do not agree', 5n, [4n, 3n], undefined],
    ['two of three, with one for what is derived', 5n, [4n, 4n, 5n], undefined],
    ['two of three, where the third cannot tell', 5n, [4n, undefined, 4n], { said: 4n, urls: 2 }],
    ['three of four', 5n, [4n, 4n, 5n, 4n], { said: 4n, urls: 3 }],
    ['all of three', 5n, [4n, 4n, 4n], { said: 4n, urls: 3 }],
    ['none', 5n, [], undefined],
  ] as const)('is judged by %s', (_by, derived, said, found) => {
    expect(judgeViews(derived, said)).toEqual(found)
  })

  it('is never believed against what is derived by one node of several, whatever it says and whoever else cannot tell', () => {
    const random = seededRandom()
    for (let run = 0; run < 1_000 * times; run++) {
      const derived = BigInt(random.int(0, 3))
      const others = Array.from({ length: random.int(1, 5) }, () => (random.chance(0.5) ? derived : undefined))
      const said = [BigInt(random.int(0, 3)), ...others]
      expect(judgeViews(derived, said)).toBeUndefined()
    }
  })
})

it('the events of an account come to what came in or was moved to it, less what went out or was moved on', () => {
  const of = { holder: '0xh', logIndex: 0 }
  const events = [
    { ...of, kind: 'in', account: '0xa', shares: 10n },
    { ...of, kind: 'in', account: '0xb', shares: 7n },
    { ...of, kind: 'out', account: '0xa', shares: 3n },
    { ...of, kind: 'move', account: '0xb', to: '0xa', shares: 2n },
    { ...of, kind: 'move', account: '0xa', to: '0xa', shares: 4n },
    { ...of, kind: 'upgrade' },
  ] as const
  expect([sumEvents(events, '0xa'), sumEvents(events, '0xb'), sumEvents(events, '0xc')]).toEqual([9n, 5n, 0n])
})
