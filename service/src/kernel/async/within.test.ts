import { expect, it } from 'vitest'
import { within } from './within.js'

/** A clock on which only `ring` ends a sleep, besides its signal. */
function openClock() {
  const rings: (() => void)[] = []
  let ended = 0
  return {
    ring: () => {
      for (const ring of rings.splice(0)) ring()
    },
    ended: () => ended,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        rings.push(resolve)
        signal?.addEventListener('abort', () => {
          ended += 1
          resolve()
        })
      }),
  }
}
const never = new Promise<never>(() => undefined)
const late = (): never => {
  throw new Error('late')
}

it('gives the result of work that ends in time, and waits no longer', async () => {
  const clock = openClock()
  expect(await within(Promise.resolve(1), { clock, ms: 10 }, late)).toBe(1)
  expect(clock.ended()).toBe(1)
})

it('passes on a failure of the work', async () => {
  const clock = openClock()
  await expect(within(Promise.reject(new Error('broken')), { clock, ms: 10 }, late)).rejects.toThrow('broken')
})

it('gives what stands for work that is late, or throws it', async () => {
  const clock = openClock()
  const waiting = within(never, { clock, ms: 10 }, () => 'late')
  clock.ring()
  expect(await waiting).toBe('late')
  const failing = within(never, { clock, ms: 10 }, late)
  clock.ring()
  await expect(failing).rejects.toThrow('late')
})

it('asks for the late result only where the work is late', async () => {
  const clock = openClock()
  let asked = 0
  await within(Promise.resolve(), { clock, ms: 10 }, () => asked++)
  clock.ring()
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toBe(0)
})

it('leaves no rejection unhandled of work that fails after it was late', async () => {
  const clock = openClock()
  const fail: { late?: (error: Error) => void } = {}
  const work = new Promise<number>((_resolve, reject) => {
    fail.late = reject
  })
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const waiting = within(work, { clock, ms: 10 }, () => 0)
  clock.ring()
  expect(await waiting).toBe(0)
  fail.late?.(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
