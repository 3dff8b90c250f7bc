/** A month as `2026-10`, by UTC. */
export type Month = string

const monthsMax = 24

const toMonth = (at: number): Month => new Date(at).toISOString().slice(0, 7)
const startOf = (month: Month, later = 0): number => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return Date.UTC(year, number - 1 + later)
}

/** The months from the first deposit up to now, the newest first: two years at most. Pure. */
export function listMonths(firstDeposits: readonly (string | null)[], now: number): Month[] {
  const first = Math.min(...firstDeposits.flatMap((at) => (at === null ? [] : [Date.parse(at)])))
  const months: Month[] = []
  if (!Number.isFinite(first)) return months
  for (let at = startOf(toMonth(now)); months.length < monthsMax && at >= startOf(toMonth(first)); )
    at = startOf(months[months.push(toMonth(at)) - 1] ?? '', -1)
  return months
}

/** The range of a month; that of the present one ends with the minute that began last. Undefined for a text that is no month, and for one to come. Pure. */
export function rangeOf(month: Month, now: number): { earnedFrom: string; earnedTo: string } | undefined {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) return undefined
  const [from, to] = [startOf(month), Math.min(startOf(month, 1), Math.floor(now / 60_000) * 60_000)]
  if (from >= to) return undefined
  return { earnedFrom: new Date(from).toISOString(), earnedTo: new Date(to).toISOString() }
}

/** An instant within a month, to write its name by. */
export const withinMonth = (month: Month): number => startOf(month)
