import { expect, it } from 'vitest'
import { once } from './once.js'

it('does its work at the first call, and gives every caller the same result', async () => {
  let runs = 0
  const run = once(async () => ++runs)
  expect(runs).toBe(0)
  expect(await Promise.all([run(), run()])).toEqual([1, 1])
  expect(await run()).toBe(1)
})

it('keeps a result that is undefined, and a failure', async () => {
  let runs = 0
  const nothing = once(() => {
    runs += 1
  })
  nothing()
  nothing()
  expect(runs).toBe(1)
  const fail = once(async () => {
    runs += 1
    throw new Error('broken')
  })
  await expect(fail()).rejects.toThrow('broken')
  await expect(fail()).rejects.toThrow('broken')
  expect(runs).toBe(2)
})
