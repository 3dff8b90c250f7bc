import { setTimeout as pause } from 'node:timers/promises'
import { patience } from './patience.js'

/** Between two looks. */
const pauseMs = 20

/**
 * Looks again and again until something is found: a value that is neither undefined, null nor false. Tests wait with it
 * for what they need and for nothing else. The number of looks is bounded, not the time.
 */
export const until = async <T>(
  what: string,
  look: () => T | Promise<T>,
  looks = 1_500 * patience,
): Promise<Exclude<T, undefined | null | false>> => {
  for (let turn = 0; turn < looks; turn++) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found as Exclude<T, undefined | null | false>
    await pause(pauseMs)
  }
  throw new Error(`looked ${looks} times in vain for ${what}`)
}

/** Lets what waits on the event loop run: sockets and timers that are due. Nothing is promised about how long it takes. */
export const letOthersRun = (): Promise<void> => pause(0)
