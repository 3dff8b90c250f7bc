/** Lets a bounded number of works run at a time. */
export type Room = {
  /** Runs the work, or waits its turn; where there is no turn to be had `refuse` makes the error. */
  run<T>(work: () => Promise<T>, refuse: () => Error): Promise<T>
  /** True when nothing runs and nothing waits. */
  isEmpty(): boolean
}

export type RoomSize = {
  inFlight: number
  /** How many may wait. Default: any number. */
  waiting?: number
  /** How long each may wait. Default: as long as it takes. */
  waitMs?: number
}

/** Opens a room. Those who wait come in in order. */
export function createRoom({ inFlight, waiting = Number.POSITIVE_INFINITY, waitMs }: RoomSize): Room {
  let taken = 0
  const queue = new Set<() => void>()
  const enter = (): Promise<boolean> => {
    if (taken < inFlight) {
      taken += 1
      return Promise.resolve(true)
    }
    if (queue.size >= waiting) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(() => leaveQueue(false), waitMs)
      const leaveQueue = (entered: boolean) => {
        clearTimeout(timer)
        queue.delete(admit)
        resolve(entered)
      }
      const admit = () => leaveQueue(true)
      queue.add(admit)
    })
  }
  const leave = () => {
    const [next] = queue
    // The place is handed on, so nobody comes in between.
    if (next) next()
    else taken -= 1
  }
  return {
    run: async (work, refuse) => {
      if (!(await enter())) throw refuse()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    isEmpty: () => taken === 0,
  }
}

/** Rooms of one size, one for each name; kept only while somebody is in. */
export type Rooms = { run<T>(name: string, work: () => Promise<T>, refuse: () => Error): Promise<T> }

export function createRooms(size: RoomSize): Rooms {
  const rooms = new Map<string, Room>()
  return {
    run: async (name, work, refuse) => {
      const room = rooms.get(name) ?? createRoom(size)
      rooms.set(name, room)
      try {
        return await room.run(work, refuse)
      } finally {
        if (room.isEmpty()) rooms.delete(name)
      }
    },
  }
}
