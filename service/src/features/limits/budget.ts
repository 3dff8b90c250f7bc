import type { Seen } from '../../postgres/reading.js'

/** The budget of a key: `monthlyUnits` null means no monthly cap. */
export type Allowance = {
  keyId: string
  hourlyUnits: number
  monthlyUnits: number | null
  /** The client's network and what it may use of the key's hour, where that is limited. */
  address?: Address | undefined
}

export type Address = { network: string; units: number }

/** One call to be charged: it is served if there is room for `units`, and pays `taken`, which is at most that. */
export type Ask = { allowance: Allowance; units: number; taken: number }

/** Several calls charged at once, one after the other: the room they need, and what they pay. */
export type Sum = { units: number; taken: number }

/** Starts of the UTC hour and the UTC calendar month. */
export type Windows = { hourAt: Date; monthAt: Date }

/** Units used in the windows at hand. */
export type Used = Windows & {
  hourUsed: number
  monthUsed: number
  byNetwork?: ReadonlyMap<string, number> | undefined
  seen?: Seen | undefined
}

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

/** Units left to an address; never below 0. */
export function computeAddressRoom({ units, network }: Address, used: Used): number {
  return Math.max(0, units - (used.byNetwork?.get(network) ?? 0))
}

/** In order of arrival, those that fit one after the other into what is left; the rest is too dear for what remains. */
export function chooseFitting<T extends Ask>(waiting: readonly T[], allowance: Allowance, used: Used): T[] {
  let left = computeRoom(allowance, used)
  const leftByNetwork = new Map<string, number>()
  return waiting.filter(({ units, taken, allowance: { address } }) => {
    const addressLeft = address && (leftByNetwork.get(address.network) ?? computeAddressRoom(address, used))
    if (units > left || (addressLeft !== undefined && units > addressLeft)) return false
    left -= taken
    if (address && addressLeft !== undefined) leftByNetwork.set(address.network, addressLeft - taken)
    return true
  })
}

/** The sum of calls in order: their payment, and the room they need: that of the last call on top of the payments before it. */
export function sumUp(asks: readonly Pick<Ask, 'units' | 'taken'>[]): Sum {
  const sum = { units: 0, taken: 0 }
  for (const { units, taken } of asks) {
    if (units > 0) sum.units = Math.max(sum.units, sum.taken + units)
    sum.taken += taken
  }
  return sum
}

export type NetworkSum = Sum & { network: string; limit: number }

/** The same for each network the calls came from, where a share is set. */
export function sumUpByNetwork(asks: readonly Ask[]): NetworkSum[] {
  const groups = new Map<string, Ask[]>()
  for (const ask of asks) {
    const { address } = ask.allowance
    const group = address && groups.get(address.network)
    if (group) group.push(ask)
    else if (address) groups.set(address.network, [ask])
  }
  return [...groups].map(([network, group]) => {
    const limit = group.at(-1)?.allowance.address?.units ?? 0
    return { ...sumUp(group), network, limit }
  })
}

/**
 * Which limit refuses these units: the month where it does, for it is the longest wait; else the share of the address
 * where less is left of it than of the hour.
 */
export function findRefusal(allowance: Allowance, used: Used, units: number, address?: Address): Limit {
  const { monthlyUnits, hourlyUnits } = allowance
  if (monthlyUnits !== null && used.monthUsed + units > monthlyUnits) return 'monthly'
  return address && isNearer(address, hourlyUnits, used) ? 'ip' : 'hourly'
}

export type Limit = 'hourly' | 'monthly' | 'ip'

function isNearer(address: Address, hourlyUnits: number, used: Used): boolean {
  return computeAddressRoom(address, used) < Math.max(0, hourlyUnits - used.hourUsed)
}

/** Whole seconds, at least 1, until the next hour or month begins. */
export function secondsToNext(limit: Limit, used: Windows, now: Date): number {
  const { hourAt, monthAt } = used
  const next =
    limit === 'monthly' ? Date.UTC(monthAt.getUTCFullYear(), monthAt.getUTCMonth() + 1, 1) : hourAt.getTime() + hourMs
  return Math.max(1, Math.ceil((next - now.getTime()) / 1000))
}

/** The limit headers of a keyed answer. The first three are those of the hour, or of the address where less is left to it. */
export function formatBudgetHeaders(allowance: Allowance, used: Used, address?: Address): Record<string, string> {
  const { hourlyUnits, monthlyUnits } = allowance
  const nearer = address && isNearer(address, hourlyUnits, used) ? address : undefined
  const limit = nearer ? nearer.units : hourlyUnits
  const spent = nearer ? (used.byNetwork?.get(nearer.network) ?? 0) : used.hourUsed
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(Math.max(0, limit - spent)),
    'X-RateLimit-Used': String(spent),
  }
  if (monthlyUnits === null) return headers
  headers['X-Monthly-Limit'] = String(monthlyUnits)
  headers['X-Monthly-Usage'] = String(used.monthUsed)
  headers['X-Monthly-Remaining'] = String(Math.max(0, monthlyUnits - used.monthUsed))
  return headers
}
