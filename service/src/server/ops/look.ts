import type { Context } from '../../postgres/context.js'
import { createRepeats } from '../repeats.js'

/** Reads for `/metrics`. */
export type Look = {
  /** Reads once and tells the same for `ms`; all who ask meanwhile share it. A failure is not kept. */
  keep<T>(ms: number, read: () => Promise<T>): () => Promise<T>
  /** Reads; where that fails it is undefined, with a word in the log once a minute. */
  attempt<T>(read: () => Promise<T>): Promise<T | undefined>
}

export function createLook({ clock, log }: Pick<Context, 'clock' | 'log'>): Look {
  const repeats = createRepeats(clock)
  return {
    keep: <T>(ms: number, read: () => Promise<T>) => {
      let kept: { untilMs: number; found: Promise<T> } | undefined
      return () => {
        if (kept && clock.monotonicMs() < kept.untilMs) return kept.found
        const mine = { untilMs: clock.monotonicMs() + ms, found: read() }
        kept = mine
        mine.found.catch(() => {
          if (kept === mine) kept = undefined
        })
        return mine.found
      }
    },
    attempt: async (read) => {
      try {
        return await read()
      } catch (error) {
        repeats.say('unread', (times) => log.warn({ err: error, times }, 'a gauge cannot be read and is left out'))
        return undefined
      }
    },
  }
}
