import type { Random } from '../simulation/random.js'
import { monthSeconds, type openMonth, type TestVault, walletOf } from './month.js'

/** What months are drawn with: ranges, walks through the month, and stays that are scaled to a sum of USD-days. */

export type Month = ReturnType<typeof openMonth>
export type Drawn = { month: Month; random: Random; vaults: TestVault[]; wallets: string[] }
export type Span = { inAt: number; outAt: number }

/** Dollars of a wallet in a vault from one second to another. `weight`: relative size, until the sum is known. */
export type Stay = Span & {
  vault: TestVault
  wallet: string
  weight: number
  sender?: string
  exitSender?: string
  target?: string
  hash?: string
  attribution?: 'signed' | 'unsigned'
  isReplayed?: boolean
  isBare?: boolean
  /** The cheat's own standing money: no part of what is washed. */
  isCover?: boolean
}

export const minute = 60
export const hour = 3_600
export const day = 86_400

export const between = (random: Random, from: number, to: number) => from + random.next() * (to - from)
/** As often near `from` as near `to`, by ratio. */
export const skewed = (random: Random, from: number, to: number) => from * (to / from) ** random.next()
export const around = (random: Random, middle: number, spread: number) =>
  middle * (1 + spread * (2 * random.next() - 1))
export const clamp = (value: number, from: number, to: number) => Math.min(Math.max(value, from), to)
export const count = (random: Random, from: number, to: number) => Math.round(skewed(random, from, to))
export const times = <T>(length: number, make: (place: number) => T) =>
  Array.from({ length }, (_, place) => make(place))

/** About bell-shaped, with middle 0 and deviation 1. */
export const bell = (random: Random) =>
  times(6, () => random.next()).reduce((sum, part) => sum + part, -3) * (707 / 500)
export const fortune = (random: Random, middle: number, deviation: number) =>
  middle * Math.exp(deviation * bell(random))

export function drawNames(random: Random, length: number): string[] {
  const salt = `${random.int(0, 1_000_000_000)} ${random.int(0, 1_000_000_000)}`
  return times(length, (place) => walletOf(`${salt} ${place}`))
}

export const drawName = (random: Random) => drawNames(random, 1)[0] ?? ''

export function some<T>(random: Random, items: readonly T[], most: number): T[] {
  const left = [...items]
  const length = random.int(1, Math.min(most, left.length))
  return times(length, () => left.splice(random.int(0, left.length - 1), 1)).flat()
}

export const inTurn = <T>(items: readonly T[], place: number): T => {
  const item = items[place % items.length]
  if (item === undefined) throw new Error('nothing to take in turn')
  return item
}

type Walk = { from: number; most: number; stay: number; gap: number; jitter: number; pauses: number }

/** Stays one after another with gaps and now and then a pause, until there are enough or the month ends. */
export function walk(random: Random, { from, most, stay, gap, jitter, pauses }: Walk): Span[] {
  const spans: Span[] = []
  let clock = from
  while (spans.length < most) {
    const inAt = Math.round(clock)
    const outAt = inAt + Math.max(20, Math.round(around(random, stay, jitter)))
    if (outAt >= monthSeconds - minute) break
    spans.push({ inAt, outAt })
    clock = outAt + around(random, gap, jitter) + (random.chance(pauses) ? between(random, 3 * hour, 30 * hour) : 0)
  }
  return spans
}

/** The same money in pieces: put in and taken out within minutes, at most a fifth of the stay apart. */
export function cut(random: Random, stay: Stay, most: number): Stay[] {
  const shares = times(random.int(2, most), () => between(random, 0.3, 1))
  const whole = shares.reduce((sum, share) => sum + share, 0)
  const slack = Math.min(8 * minute, (stay.outAt - stay.inAt) / 5)
  return shares.map((share, place) => ({
    ...stay,
    weight: (stay.weight * share) / whole,
    inAt: stay.inAt + (place === 0 ? 0 : Math.round(between(random, 0, slack))),
    outAt: stay.outAt - (place === 0 ? 0 : Math.round(between(random, 0, slack))),
  }))
}

const blockOf = (at: number, { blockSeconds }: TestVault) => Math.floor(at / blockSeconds) * blockSeconds

/** Days that a dollar of a stay is counted in the month, with what it earns. */
export function countDays({ vault, inAt, outAt }: Stay): number {
  const [from, to] = [Math.max(0, blockOf(inAt, vault)), Math.min(monthSeconds, blockOf(outAt, vault))]
  const growth = (1 + vault.priceAt(to) / vault.priceAt(from)) / 2
  return (Math.max(0, to - from) / day) * growth
}

/** Writes stays, with their weights as dollars so scaled that those that are no cover are `usdDays` together. */
export function settle({ month }: Drawn, stays: readonly Stay[], usdDays: number): void {
  const washing = stays.filter(({ isCover }) => !isCover)
  const scale = usdDays / washing.reduce((sum, stay) => sum + stay.weight * countDays(stay), 0)
  if (!Number.isFinite(scale)) throw new Error('nothing is held')
  const ends = stays.flatMap((stay) => [
    { at: stay.inAt, isIn: true, stay },
    { at: stay.outAt, isIn: false, stay },
  ])
  const held = new Map<TestVault, Map<string, number>>()
  for (const { at, isIn, stay } of ends.sort((a, b) => a.at - b.at)) {
    const { vault, wallet, sender = wallet, exitSender = wallet, hash } = stay
    const { target = '0xvault', attribution = 'signed', isReplayed = false, isBare = false } = stay
    const lots = held.get(vault) ?? new Map<string, number>()
    held.set(vault, lots)
    const before = lots.get(wallet) ?? 0
    const usd = stay.weight * scale
    const shares = usd / vault.priceAt(stay.inAt)
    if (isIn) {
      const how = { attribution, isReplayed, sender, target, ...(hash === undefined ? {} : { hash }) }
      month.deposit({ at, vault, wallet, usd, ...how })
      lots.set(wallet, before + shares)
    } else if (at < monthSeconds) {
      const isAll = shares > before * (1 - 1e-9)
      month.exit({ at, vault, wallet, part: isAll ? 1 : shares / before, isBare, sender: exitSender })
      lots.set(wallet, isAll ? 0 : before - shares)
    }
  }
}
