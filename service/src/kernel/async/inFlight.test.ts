import { expect, it } from 'vitest'
import { inFlight } from './inFlight.js'

it('does work of one name once for all who ask while it runs, and again for whoever asks later', async () => {
  const share = inFlight<number>()
  let runs = 0
  const work = async () => ++runs
  expect(await Promise.all([share('a', work), share('a', work), share('b', work)])).toEqual([1, 1, 2])
  expect(await share('a', work)).toBe(3)
})

it('gives a failure to all who wait for it, and keeps none', async () => {
  const share = inFlight<number>()
  const fail = () => share('a', () => Promise.reject(new Error('broken')))
  const settled = await Promise.allSettled([fail(), fail()])
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await share('a', async () => 1)).toBe(1)
})
