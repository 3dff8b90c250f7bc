/** The state that decides whether the share prices of a vault may be served. */
export type SeriesState = {
  /** Its kind says how its figures are read. */
  isReadable: boolean
  /** Something measures its growth in the range asked for. */
  isMapped: boolean
  isPaused: boolean
  /** The newest snapshot, if any. */
  newest: { atMs: number; totalSupply: bigint } | undefined
  snapshotIntervalSeconds: number
  dustFloor: bigint
  /** How long a block of its chain takes to be confirmed. */
  confirmationSeconds: number
}

/** Why a series is withheld, for callers, and in words. `needsOperator`: it does not pass by itself. */
export type Withholding = {
  reason: 'PROTOCOL_UNSUPPORTED' | 'INDEXING_NOT_STARTED' | 'INDEXING_STALLED'
  text: string
  needsOperator?: true
}

/** Snapshots that may be missing before the series counts as stalled. */
const intervalsMax = 3

export const unsupported: Withholding = {
  reason: 'PROTOCOL_UNSUPPORTED',
  text: 'there is no price indexer for this vault; asking again will not help',
}

/** Why the share prices of a vault are not served now; undefined when they are. Pure. */
export function findWithholding(state: SeriesState, nowMs: number): Withholding | undefined {
  const notStarted = (text: string): Withholding => ({ reason: 'INDEXING_NOT_STARTED', text })
  const stalled = (text: string): Withholding => ({ reason: 'INDEXING_STALLED', text })
  if (!state.isReadable) return unsupported
  if (!state.isMapped)
    return { ...notStarted('nothing measures the growth of this vault in the range asked for'), needsOperator: true }
  const { newest } = state
  if (!newest) return notStarted('no snapshot of this vault was taken yet')
  if (state.isPaused) return { ...stalled('the operator has paused the series of this vault'), needsOperator: true }
  const lateMs = (intervalsMax * state.snapshotIntervalSeconds + state.confirmationSeconds) * 1000
  if (nowMs - newest.atMs > lateMs) return stalled('the newest snapshot of this vault is too old')
  if (newest.totalSupply < state.dustFloor)
    return stalled('the vault is as good as empty, so its share price means nothing')
  return undefined
}

/** Seconds to the next snapshot that is due, at least 30. Pure. */
export function retryAfterSeconds(
  state: Pick<SeriesState, 'newest' | 'snapshotIntervalSeconds'>,
  nowMs: number,
): number {
  const { newest, snapshotIntervalSeconds: interval } = state
  const dueMs = newest ? newest.atMs + interval * 1000 : (Math.floor(nowMs / (interval * 1000)) + 1) * interval * 1000
  return Math.max(30, Math.ceil((dueMs - nowMs) / 1000))
}
