import { expect, it } from 'vitest'
import { memo } from './memo.js'

it('makes its result once per key, objects by identity and other keys by value', () => {
  let runs = 0
  const count = memo((_key: unknown) => ++runs)
  const [one, other] = [{}, {}]
  expect([one, other, one, 'a', 1, 'a', 1, null, null].map(count)).toEqual([1, 2, 1, 3, 4, 3, 4, 5, 5])
})

it('keeps a result that is undefined, and no failure', () => {
  let runs = 0
  const none = memo(() => void ++runs)
  none('a')
  none('a')
  expect(runs).toBe(1)
  const fail = memo((_key: string) => {
    runs += 1
    throw new Error('broken')
  })
  for (const _time of [1, 2]) expect(() => fail('a')).toThrow('broken')
  expect(runs).toBe(3)
})
