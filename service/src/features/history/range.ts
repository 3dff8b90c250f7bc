import { invalidArgument } from '../../kernel/errors.js'
import { readRange } from '../metrics/index.js'

/** The range of a request, unparsed. */
export type RangeInput = { startDate: string; endDate?: string; step?: number; apyInterval?: number }

/** A range of time in buckets on the Unix-epoch grid of `step`; both ends are included. */
export type Range = { startMs: number; endMs: number; step: number; apyInterval: number }

/** A range with the instant it was asked at, by the chain of its vault. */
export type AskedRange = Range & { now: Date }

export const stepDefault = 86_400
export const stepMax = 31_536_000
export const apyIntervalDefault = 2_592_000
export const apyIntervalMax = 7_776_000
const bucketsMax = 10_000
const bucketsWithInputsMax = 1_000

/** The range asked for, as it is at the instant the request arrives. Refuses what no series can have. Pure. */
export function parseRange(input: RangeInput & { includeInputs?: boolean }, now: Date): AskedRange {
  const { from, to } = readRange(input, now)
  const range = {
    startMs: from.getTime(),
    endMs: to.getTime(),
    step: input.step ?? stepDefault,
    apyInterval: input.apyInterval ?? apyIntervalDefault,
    now,
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
