/** The input that decides when a snapshot of a stream is due. Instants are unix seconds. */
export type SnapshotCourse = {
  startAt: number
  endAt: number | null
  /** Of the newest snapshot, vetoed or not; null: none yet. */
  lastAt: number | null
  /** A vetoed one of the end is taken again by an operator only. */
  isLastTaken: boolean
  /** Seconds between snapshots. */
  everySeconds: number
  /** The time of the newest final block: of every instant before it the last block is known for good. */
  finalAt: number
}

/** The instant a snapshot is due of: the end once that is reached, else the newest of the grid; those missed are left out. */
export function findDueInstant(course: SnapshotCourse): number | undefined {
  const { startAt, endAt, lastAt, isLastTaken, everySeconds, finalAt } = course
  if (isLastTaken) return undefined
  const reached = finalAt - 1
  const due = endAt !== null && endAt <= reached ? endAt : Math.floor(reached / everySeconds) * everySeconds
  return due > startAt && due > (lastAt ?? startAt) ? due : undefined
}

/** The next instant of the grid: to where the end of a stream is moved that is ended early. */
export function findNextInstant(now: number, everySeconds: number): number {
  return (Math.floor(now / everySeconds) + 1) * everySeconds
}

/**
 * Where the end of a stream without one is set to, `usedUpSeconds` after its budget was used up: to the next instant of the
 * grid. Undefined: it has an end, or goes on. Pure.
 */
export function findUsedUpEnd(of: {
  hasEnd: boolean
  /** By the newest snapshot; null: its budget is not used up. */
  usedUpAt: number | null
  now: number
  usedUpSeconds: number
  everySeconds: number
}): number | undefined {
  const { hasEnd, usedUpAt, now, usedUpSeconds, everySeconds } = of
  if (hasEnd || usedUpAt === null || now < usedUpAt + usedUpSeconds) return undefined
  return findNextInstant(now, everySeconds)
}
