import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../clock.js'

/** Work that can stop at every `yield` and go on later. */
export type Steps<T> = Generator<undefined, T>

/** The default slice: a request takes several turns of the event loop, and waits this long at each. */
export const sliceMsDefault = 0.5
/** A turn that takes others longer than this has requests in it: those get a pause as well. */
const busyMs = 0.25
const pauseMsDefault = 2

/** Does the work a slice at a time, requests being served in between. */
export async function inSlices<T>(
  steps: Steps<T>,
  { sliceMs = sliceMsDefault, pauseMs = pauseMsDefault }: { sliceMs?: number; pauseMs?: number } = {},
): Promise<T> {
  for (;;) {
    const untilMs = systemClock.monotonicMs() + sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (systemClock.monotonicMs() < untilMs)
    const pausedMs = systemClock.monotonicMs()
    await nextTurn()
    if (pauseMs > 0 && systemClock.monotonicMs() - pausedMs > busyMs) await systemClock.sleep(pauseMs)
  }
}

/** Does the work without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** `items.map(make)`, with a stop after every few items. */
export function* mapInSteps<A, B>(items: Iterable<A>, make: (item: A, index: number) => B): Steps<B[]> {
  const made: B[] = []
  for (const item of items) {
    made.push(make(item, made.length))
    if (made.length % itemsAStep === 0) yield
  }
  return made
}

/** The dearest items take about 60 µs each. */
const itemsAStep = 4
