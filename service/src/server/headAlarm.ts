import type { Clock } from '../kernel/clock.js'

/** Looks at the head that are waited for where the last one was announced: nodes that announce seldom leave one out. */
const announcedWaits = 2

/**
 * The wait between two looks at a chain, which an announced head cuts short; one that rings while nobody waits is not
 * forgotten. After an announced head the next is waited for longer than polling would: announced as well, it is asked for
 * once; left out, it is found with the one after it, or by the look after the longer wait.
 */
export function createHeadAlarm(clock: Pick<Clock, 'sleep'>, pollIntervalMs: number) {
  let wake = new AbortController()
  let isAnnounced = false
  return {
    ring: (): void => wake.abort(),
    sleep: async (signal: AbortSignal): Promise<void> => {
      const ms = isAnnounced ? announcedWaits * pollIntervalMs : pollIntervalMs
      await clock.sleep(ms, AbortSignal.any([signal, wake.signal]))
      isAnnounced = wake.signal.aborted
      wake = new AbortController()
    },
  }
}
