import { daySeconds, formatTs, parseTs } from '../../kernel/clock.js'
import { invalidInput } from '../../kernel/errors.js'
import { type Exact, type OpportunityEarning, parseUsd, readSum, showSum, showUsd } from './earnings.js'
import type { EarningRow, InRange } from './schema.js'
import type { Held, Range, RangeSums } from './storeRange.js'

/** A clock of the caller may differ by so much. */
const toleranceMs = 60_000
const daysMax = 366

export type RangeInput = { earnedFrom?: string | undefined; earnedTo?: string | undefined }

/** The range that earnings are asked for; undefined where none is. Pure. */
export function readEarnedRange({ earnedFrom, earnedTo }: RangeInput, now: Date): Range | undefined {
  if (earnedFrom === undefined && earnedTo === undefined) return undefined
  const from = readInstant('earnedFrom', earnedFrom)
  const to = readInstant('earnedTo', earnedTo)
  if (from >= to) throw refused('earnedFrom', 'must be before earnedTo')
  if (to.getTime() > now.getTime() + toleranceMs)
    throw refused('earnedTo', 'lies in the future; ask for an earlier one')
  if (to.getTime() - from.getTime() > daysMax * daySeconds * 1_000)
    throw refused('earnedFrom', `is more than ${daysMax} days before earnedTo; ask for a shorter range`)
  return { from, to }
}

function readInstant(name: keyof RangeInput, text: string | undefined): Date {
  if (text === undefined) throw refused(name, 'is missing; give both earnedFrom and earnedTo, or neither')
  const at = parseTs(text)
  if (!at) throw refused(name, 'must be an RFC 3339 date-time')
  return at
}

const refused = (path: keyof RangeInput, message: string) => invalidInput([{ path, message }])

/**
 * Earnings of a range: end + withdrawn − deposited − start. Its end is the start of the next range, to the unit, so that
 * ranges add up. Null where no share price of the vault is known. Pure.
 */
export function computeInRange(earning: OpportunityEarning, sums: RangeSums, { from, to }: Range): InRange | null {
  const start = valueHeld(earning, sums.start)
  const end = valueHeld(earning, sums.end)
  if (!start || !end) return null
  const deposited = { native: BigInt(sums.deposited), usd: parseUsd(sums.depositedUsd) }
  const withdrawn = { native: BigInt(sums.withdrawn), usd: parseUsd(sums.withdrawnUsd) }
  const isPriced = [start, end, deposited, withdrawn].every(({ usd }) => usd !== null)
  const usdOf = ({ usd }: Exact) => usd ?? 0n
  const earned = {
    native: end.native + withdrawn.native - deposited.native - start.native,
    usd: isPriced ? usdOf(end) + usdOf(withdrawn) - usdOf(deposited) - usdOf(start) : null,
  }
  const show = (sum: Exact) => showSum(sum, earning.assetDecimals)
  return {
    ...{ from: formatTs(from), to: formatTs(to), deposited: show(deposited), withdrawn: show(withdrawn) },
    ...{ start: show(start), end: show(end), earned: show(earned) },
  }
}

/** All rows of a range together: the sum of what they tell, to the last digit; null where one does not know its dollars. Pure. */
export function sumInRange(rows: readonly Pick<EarningRow, 'inRange'>[], { from, to }: Range) {
  const earned = rows.map(({ inRange }) => parseUsd(inRange?.earned.usd ?? null))
  const isKnown = (each: bigint | null): each is bigint => each !== null
  const earnedUsd = earned.every(isKnown) ? showUsd(earned.reduce((sum, each) => sum + each, 0n)) : null
  return { from: formatTs(from), to: formatTs(to), earnedUsd }
}

/**
 * The worth of what was held at an instant. From the newest snapshot on it is the row's `current`, unless the sums of the row
 * and of the range are of different blocks, or the holding has changed since.
 */
function valueHeld({ assetDecimals, shares: sharesNow, current }: OpportunityEarning, held: Held): Exact | undefined {
  const shares = BigInt(held.shares)
  if (shares === 0n) return { native: 0n, usd: 0n }
  if (held.isNewest && shares === BigInt(sharesNow)) return readSum(current, assetDecimals)
  const { priceNumerator, priceExponent } = held
  if (priceNumerator === null || priceExponent === null) return undefined
  const native = (shares * BigInt(priceNumerator)) / 10n ** BigInt(priceExponent)
  const price = parseUsd(held.priceUsd)
  return { native, usd: price === null ? null : (native * price) / 10n ** BigInt(assetDecimals) }
}
