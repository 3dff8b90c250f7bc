import { invalidArgument } from '../../kernel/errors.js'
import { parseTs } from '../../kernel/wire.js'

/** What is asked of a series, as it came. */
export type RangeInput = { startDate: string; endDate?: string; step?: number; apyInterval?: number }

/** A range of time in buckets on the Unix-epoch grid of `step`; both ends are included. */
export type Range = { startMs: number; endMs: number; step: number; apyInterval: number }

export const stepDefault = 86_400
export const stepMax = 31_536_000
export const apyIntervalDefault = 2_592_000
export const apyIntervalMax = 7_776_000
const bucketsMax = 10_000
const bucketsWithInputsMax = 1_000
const startAgeMaxMs = 365 * 86_400_000
const startToleranceMs = 60_000

/** The range asked for, as it is at the instant the request arrives. Refuses what no series can have. Pure. */
export function parseRange(input: RangeInput & { includeInputs?: boolean }, now: Date): Range {
  const nowMs = now.getTime()
  const startMs = toMs(input.startDate, 'startDate')
  const wantedMs = input.endDate === undefined ? nowMs : toMs(input.endDate, 'endDate')
  const endMs = Math.min(wantedMs, nowMs)
  if (startMs < nowMs - startAgeMaxMs - startToleranceMs)
    throw invalidArgument('startDate is more than 365 days ago; ask for a later one')
  if (startMs > endMs)
    throw invalidArgument(
      startMs > nowMs ? 'startDate lies in the future; ask for an earlier one' : 'startDate is after endDate',
    )
  const range = {
    startMs,
    endMs,
    step: input.step ?? stepDefault,
    apyInterval: input.apyInterval ?? apyIntervalDefault,
  }
  const count = countBuckets(range)
  if (count > bucketsMax)
    throw invalidArgument(
      `the range has ${count} buckets at this step, at most ${bucketsMax} are served; widen the step`,
    )
  if (input.includeInputs === true && count > bucketsWithInputsMax)
    throw invalidArgument(
      `the range has ${count} buckets at this step, at most ${bucketsWithInputsMax} are served with their inputs`,
    )
  return range
}

/** How many buckets meet the range. Pure. */
export function countBuckets({ startMs, endMs, step }: Pick<Range, 'startMs' | 'endMs' | 'step'>): number {
  return Math.floor(endMs / 1000 / step) - Math.floor(startMs / 1000 / step) + 1
}

function toMs(text: string, name: string): number {
  const at = parseTs(text)
  if (!at) throw invalidArgument(`${name} must be an RFC 3339 date-time`)
  return at.getTime()
}
