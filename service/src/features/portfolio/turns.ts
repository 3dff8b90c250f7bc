import { systemClock } from '../../kernel/clock.js'

/** At most about this long at a time. */
const turnMs = 10
const checkedEvery = 32

/** `items.map(make)`, others being served in between where it takes long. */
export async function mapInTurns<A, B>(items: readonly A[], make: (item: A) => B): Promise<B[]> {
  const made: B[] = []
  let untilMs = systemClock.monotonicMs() + turnMs
  for (const item of items) {
    made.push(make(item))
    if (made.length % checkedEvery !== 0 || systemClock.monotonicMs() < untilMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    untilMs = systemClock.monotonicMs() + turnMs
  }
  return made
}
