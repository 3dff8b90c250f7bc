import { systemClock } from '../../../kernel/clock.js'

/** Work that can stop at every `yield` and go on later. */
export type Steps<T> = Generator<undefined, T>

/** At most this long at a time, so that requests wait hardly longer than without. */
const sliceMs = 2
/** Between two slices, for the requests alone. */
const pauseMs = 1

/** Does the work a slice at a time, requests being served in between. */
export async function runInSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const untilMs = systemClock.monotonicMs() + sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (systemClock.monotonicMs() < untilMs)
    await systemClock.sleep(pauseMs)
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
    if (made.length % 20 === 0) yield
  }
  return made
}
