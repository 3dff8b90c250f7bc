/** The record of an Idempotency-Key. `status` and `body` are null while the request that holds the `turn` runs. */
export type KeyRecord = {
  fingerprint: Uint8Array
  turn: string
  /** A request that has not answered by then is taken for dead. */
  leasedUntil: Date
  expiresAt: Date
  status: number | null
  body: string | null
}

/** How an Idempotency-Key stands to a request that names it. */
export type Standing =
  | { kind: 'free' }
  | { kind: 'at work' }
  | { kind: 'answered'; answer: { status: number; body: string } }
  /** It was used for a different request. */
  | { kind: 'taken' }

/**
 * How a key stands at an instant. It is free when nothing is kept of it, when what is kept has expired, and when the
 * request at work has outlived its lease; an answer outlives the lease. Pure.
 */
export function standingOf(record: KeyRecord | undefined, fingerprint: Uint8Array, now: Date): Standing {
  if (!record || record.expiresAt <= now) return { kind: 'free' }
  const { status, body } = record
  const isAtWork = status === null || body === null
  if (isAtWork && record.leasedUntil <= now) return { kind: 'free' }
  if (Buffer.compare(record.fingerprint, fingerprint) !== 0) return { kind: 'taken' }
  return isAtWork ? { kind: 'at work' } : { kind: 'answered', answer: { status, body } }
}
