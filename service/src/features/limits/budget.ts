/** What a key may use: `monthlyUnits` null means no monthly cap. */
export type Allowance = { keyId: string; hourlyUnits: number; monthlyUnits: number | null }

/** Starts of the UTC hour and the UTC calendar month. */
export type Windows = { hourAt: Date; monthAt: Date }

/** Units used in the windows at hand. */
export type Used = Windows & { hourUsed: number; monthUsed: number }

const hourMs = 3_600_000

/** The hour and the month an instant falls in. */
export function windowsAt(at: Date): Windows {
  return {
    hourAt: new Date(Math.floor(at.getTime() / hourMs) * hourMs),
    monthAt: new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1)),
  }
}

/** Units left in the tighter of the two windows; never below 0. */
export function computeRoom(allowance: Allowance, used: Used): number {
  const hour = allowance.hourlyUnits - used.hourUsed
  const month = allowance.monthlyUnits === null ? hour : allowance.monthlyUnits - used.monthUsed
  return Math.max(0, Math.min(hour, month))
}

/** In order of arrival, those that fit into the room one after the other; what is left is too dear for what remains. */
export function chooseFitting<T extends { units: number }>(waiting: readonly T[], room: number): T[] {
  let left = room
  return waiting.filter(({ units }) => {
    if (units > left) return false
    left -= units
    return true
  })
}

/** Which budget refuses these units; the month when both do, for it is the longer wait. */
export function findRefusal(allowance: Allowance, used: Used, units: number): 'hourly' | 'monthly' {
  const { monthlyUnits } = allowance
  return monthlyUnits !== null && used.monthUsed + units > monthlyUnits ? 'monthly' : 'hourly'
}

/** Whole seconds, at least 1, until the next hour or month begins. */
export function secondsToNext(limit: 'hourly' | 'monthly', used: Windows, now: Date): number {
  const { hourAt, monthAt } = used
  const next =
    limit === 'hourly' ? hourAt.getTime() + hourMs : Date.UTC(monthAt.getUTCFullYear(), monthAt.getUTCMonth() + 1, 1)
  return Math.max(1, Math.ceil((next - now.getTime()) / 1000))
}

/** The limit headers of a keyed answer. */
export function formatBudgetHeaders(allowance: Allowance, used: Used): Record<string, string> {
  const { hourlyUnits, monthlyUnits } = allowance
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(hourlyUnits),
    'X-RateLimit-Remaining': String(Math.max(0, hourlyUnits - used.hourUsed)),
    'X-RateLimit-Used': String(used.hourUsed),
  }
  if (monthlyUnits === null) return headers
  headers['X-Monthly-Limit'] = String(monthlyUnits)
  headers['X-Monthly-Usage'] = String(used.monthUsed)
  headers['X-Monthly-Remaining'] = String(Math.max(0, monthlyUnits - used.monthUsed))
  return headers
}
