/** Pauses after failed tries, in seconds: growing, about four and a half days together. */
const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400] as const
/** A pause is up to this share longer, so that the events of an outage do not come back together. */
const jitter = 0.2

/** Milliseconds until the next try after a number of tries that failed; null: the event is given up. */
export function pauseAfter(attempt: number, random: () => number = Math.random): number | null {
  const seconds = pauses[attempt - 1]
  return seconds === undefined ? null : Math.round(seconds * 1_000 * (1 + jitter * random()))
}

/** Failures for this long disable a webhook. */
const failingMaxMs = 3 * 86_400_000

/** Why a webhook is disabled after a failed try; undefined if it is not. */
export function findEnd(
  { status, error }: { status: number | null; error: string },
  { since, at }: { since: Date; at: Date },
): string | undefined {
  if (status === 410) return 'the receiver answered 410: it does not want more events'
  if (at.getTime() - since.getTime() < failingMaxMs) return undefined
  return `every try failed for three days; the last: ${error}`
}
