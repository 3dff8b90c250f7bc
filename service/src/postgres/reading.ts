/** The most a caller may have seen by now: the position of its last durable write, if it has written, and the last event of the feed. */
export type Seen = { lastWrite: string | null; lastEvent: number }

/** A replica as it answered last. */
export type ReplicaState = {
  /** False for a server that takes writes, such as one that was promoted. */
  isReplica: boolean
  /** The position up to which it has replayed the log. */
  replayed: bigint
  /** The last event that it has. */
  lastEvent: number
  /** How many bytes of the log of the primary it has not replayed. */
  lagBytes: number
}

/** Who serves: a replica by its place, or the primary. */
export type Reader = number | 'primary'

/** From so far behind on a replica is left out, whatever the caller has seen. */
export const lagBytesMax = 1_048_576

/** A position in the log, such as `16/B374D848`, as a number. */
export function parsePosition(text: string): bigint {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

type Choosing = {
  /** The replica that is looked at first. */
  preferred: number
  /** Who served what this request goes on from. */
  before?: Reader | undefined
}

/**
 * Chooses who serves. What goes on from an earlier answer comes from where that came; otherwise the first replica from the
 * preferred one on that has replayed all that the caller may have seen. The primary can always.
 */
export function chooseReader(
  replicas: readonly (ReplicaState | undefined)[],
  seen: Seen | undefined,
  choosing: Choosing,
): Reader {
  if (!seen) return 'primary'
  return listWanted(replicas.length, choosing).find((place) => isFar(replicas[place], seen)) ?? 'primary'
}

/** The replica that is well and was behind when it answered last: by now it may be far enough. */
export function findLate(
  replicas: readonly (ReplicaState | undefined)[],
  seen: Seen | undefined,
  choosing: Choosing,
): number | undefined {
  if (!seen) return undefined
  return listWanted(replicas.length, choosing).find((place) => isWell(replicas[place]))
}

function listWanted(count: number, { preferred, before }: Choosing): number[] {
  if (before !== undefined) return before === 'primary' ? [] : [before]
  return Array.from({ length: count }, (_, index) => (preferred + index) % count)
}

export function isWell(state: ReplicaState | undefined): state is ReplicaState {
  return state?.isReplica === true && state.lagBytes <= lagBytesMax
}

function isFar(state: ReplicaState | undefined, { lastWrite, lastEvent }: Seen): boolean {
  if (!isWell(state) || state.lastEvent < lastEvent) return false
  return lastWrite === null || state.replayed >= parsePosition(lastWrite)
}
