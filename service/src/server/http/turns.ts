import { deadlineExceeded } from '../../kernel/errors.js'

/** Heavy requests of one key: how many run, and those that wait, in their order. */
type Lane = { running: number; waiting: Set<() => void> }

export type Turns = ReturnType<typeof createTurns>

/**
 * Turns of heavy requests. Each key has `most` of them at once and its others wait in their order, so that one key's longest
 * answers do not fill the event loop; 0: no limit. A caller that is gone loses its place.
 */
export function createTurns(most: number) {
  const lanes = new Map<string, Lane>()
  /** Callers with a turn now, and those that had one since they were last read. */
  const now = new Map<string, number>()
  const seen = new Set<string>()
  const hold = (caller: string) => {
    now.set(caller, (now.get(caller) ?? 0) + 1)
    seen.add(caller)
  }
  const release = (key: string, lane: Lane, caller: string) => {
    const left = (now.get(caller) ?? 1) - 1
    if (left === 0) now.delete(caller)
    else now.set(caller, left)
    lane.running -= 1
    const [next] = lane.waiting
    if (next) next()
    else if (lane.running === 0) lanes.delete(key)
  }
  const laneOf = (key: string): Lane => {
    const lane = lanes.get(key) ?? { running: 0, waiting: new Set() }
    lanes.set(key, lane)
    return lane
  }
  return {
    /**
     * Waits for a turn of a key. `onGone` is given what to call when the caller is gone; the promise then rejects.
     * @returns what ends the turn.
     */
    async take(
      { key, caller }: { key: string; caller: string },
      onGone: (leave: () => void) => void = () => undefined,
    ): Promise<() => void> {
      const lane = laneOf(key)
      if (most !== 0 && lane.running >= most)
        await new Promise<void>((resolve, reject) => {
          const begin = () => {
            lane.waiting.delete(begin)
            lane.running += 1
            resolve()
          }
          lane.waiting.add(begin)
          onGone(() => {
            if (lane.waiting.delete(begin)) reject(deadlineExceeded('the connection was closed before its turn came'))
          })
        })
      else lane.running += 1
      hold(caller)
      return () => release(key, lane, caller)
    },
    /** Callers that had a turn since the last call, or have one. */
    readHolders(): string[] {
      const holders = [...seen]
      seen.clear()
      for (const caller of now.keys()) seen.add(caller)
      return holders
    },
    /** The same, and the next call still tells them. */
    peekHolders: (): string[] => [...seen],
  }
}
