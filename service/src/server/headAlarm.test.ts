import { expect, it } from 'vitest'
import { createHeadAlarm } from './headAlarm.js'

/** An alarm whose waits last as long as a test says; `waits` are what they would have lasted. */
function openAlarm() {
  const waits: number[] = []
  let end: () => void = () => undefined
  const clock = {
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        waits.push(ms)
        end = resolve
        if (signal?.aborted) resolve()
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
  }
  const { ring, sleep: waitFor } = createHeadAlarm(clock, 2_000)
  const stopping = new AbortController()
  return { waits, ring, wait: () => waitFor(stopping.signal), timeIsUp: () => end(), stop: () => stopping.abort() }
}

it('a chain whose heads are announced is not asked between two of them', async () => {
  const { waits, ring, wait } = openAlarm()
  for (let head = 0; head < 3; head++) {
    const waiting = wait()
    ring()
    await waiting
  }
  expect(waits).toEqual([2_000, 4_000, 4_000])
})

it('a head that is not announced is found by the look after that, and from then on by polling', async () => {
  const { waits, ring, wait, timeIsUp } = openAlarm()
  // One that comes while the chain is looked at is not forgotten.
  ring()
  await wait()
  for (let look = 0; look < 3; look++) {
    const waiting = wait()
    timeIsUp()
    await waiting
  }
  expect(waits).toEqual([2_000, 4_000, 2_000, 2_000])
})

it('a service that stops does not wait for a head', async () => {
  const { waits, wait, stop } = openAlarm()
  stop()
  await wait()
  expect(waits).toEqual([2_000])
})
