import { setTimeout as pause } from 'node:timers/promises'
import { patience } from './patience.js'

/** Between two looks, in milliseconds: at first, and after a while, so that looking does not take the time of those who are waited for. */
const [pauseMs, pauseMaxMs] = [20, 100]

/**
 * Looks again and again until something is found: a value that is neither undefined, null nor false. Tests wait with it
 * for what they need and for nothing else. The pauses are bounded, not the time: they are as long as so many looks at first.
 */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  looks = 1_500 * patience,
): Promise<Exclude<T, undefined | null | false>> => {
  let [turn, waitedMs] = [0, 0]
  for (; waitedMs < looks * pauseMs; turn++) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found as Exclude<T, undefined | null | false>
    const pausedMs = Math.min(pauseMaxMs, Math.max(pauseMs, waitedMs / 50))
    await pause(pausedMs)
    waitedMs += pausedMs
  }
  throw new Error(`looked ${turn} times in vain for ${what}`)
}

/** Lets what waits on the event loop run: sockets and timers that are due. Nothing is promised about how long it takes. */
export const letOthersRun = (): Promise<void> => pause(0)
