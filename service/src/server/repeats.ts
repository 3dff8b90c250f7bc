import type { Clock } from '../kernel/clock.js'

const repeatMs = 60_000

/**
 * Says what lasts once and then once a minute: `say` is called with how often it was to be said since it last was.
 */
export function createRepeats(clock: Pick<Clock, 'monotonicMs'>) {
  const said = new Map<string, { atMs: number; times: number }>()
  return {
    say: (what: string, say: (times: number) => void): void => {
      const nowMs = clock.monotonicMs()
      const last = said.get(what) ?? { atMs: Number.NEGATIVE_INFINITY, times: 0 }
      last.times += 1
      if (said.size >= 100) said.clear()
      said.set(what, last)
      if (nowMs - last.atMs < repeatMs) return
      say(last.times)
      said.set(what, { atMs: nowMs, times: 0 })
    },
  }
}
