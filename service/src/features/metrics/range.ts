import { daySeconds, parseTs } from '../../kernel/clock.js'
import { invalidArgument } from '../../kernel/errors.js'

/** A clock of the caller may differ by so much. */
const toleranceMs = 60_000
const reachMs = 365 * daySeconds * 1_000

/** An instant of a query, which its schema has checked. */
export function readInstant(text: string, name: string): Date {
  const at = parseTs(text)
  if (!at) throw invalidArgument(`${name} must be an RFC 3339 date-time`)
  return at
}

/**
 * The range of a series at the instant it is asked for. An end that is absent or in the future is now, and so is a start
 * up to a minute in the future. Refuses a later start, a start after the end, and one too long ago, if `isYear`. Pure.
 */
export function readRange(
  input: { startDate: string; endDate?: string | undefined },
  now: Date,
  { isYear = true } = {},
): { from: Date; to: Date } {
  const start = readInstant(input.startDate, 'startDate').getTime()
  const end = input.endDate === undefined ? Number.POSITIVE_INFINITY : readInstant(input.endDate, 'endDate').getTime()
  const nowMs = now.getTime()
  if (start > nowMs + toleranceMs) throw invalidArgument('startDate lies in the future; ask for an earlier one')
  if (isYear && start < nowMs - reachMs - toleranceMs)
    throw invalidArgument('startDate is more than 365 days ago; ask for a later one')
  const [from, to] = [Math.min(start, nowMs), Math.min(end, nowMs)]
  if (from > to) throw invalidArgument('startDate is after endDate')
  return { from: new Date(from), to: new Date(to) }
}
