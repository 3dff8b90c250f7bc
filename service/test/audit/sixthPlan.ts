import type { Random } from '../simulation/random.js'
import { monthSeconds, type openMonth, type TestVault, walletOf } from './month.js'

/** What months are drawn with: numbers, names, vaults, a crowd, and plans that are sized before they are written. */

export type Month = ReturnType<typeof openMonth>
type In = Parameters<Month['deposit']>[0]
type Out = Parameters<Month['exit']>[0]

/** `isCover`: pocket money that is neither sized nor measured. `bundle`: deposits of one transaction share a name. */
type Put = In & { isCover?: boolean; bundle?: string }
type Step = (Put & { kind: 'in' }) | (Out & { kind: 'out' })
export type Plan = { steps: Step[]; put(of: Put): void; take(of: Out): void }

export const minute = 60
export const hour = 3_600
export const day = 86_400

export const between = (random: Random, from: number, to: number) => from + random.next() * (to - from)
/** Small and large are as likely: as many draws in 1 to 10 as in 10 to 100. */
export const wide = (random: Random, from: number, to: number) => from * (to / from) ** random.next()
export const wideInt = (random: Random, from: number, to: number) => Math.round(wide(random, from, to))
export const about = (random: Random, share: number) => 1 + (random.next() * 2 - 1) * share
/** Waits of things that come by chance, of this mean. */
export const wait = (random: Random, mean: number) => -Math.log(1 - random.next()) * mean

/** Sizes as people's are: most near the median, few many times it. */
export function people(random: Random, median: number, spread = 1.3): number {
  const bell = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  return median * Math.exp(Math.max(-3, Math.min(3, bell)) * spread)
}

export function names(random: Random, { of, count }: { of: string; count: number }): string[] {
  const salt = random.int(0, 1_000_000_000)
  return Array.from({ length: count }, (_, index) => walletOf(`${of} ${salt} ${index}`))
}

export function some<T>(random: Random, { of, count }: { of: readonly T[]; count: number }): T[] {
  const keyed = of.map((item) => ({ item, key: random.next() }))
  return keyed
    .sort((a, b) => a.key - b.key)
    .slice(0, count)
    .map(({ item }) => item)
}

export function openPlan(): Plan {
  const steps: Step[] = []
  return {
    steps,
    put: (of) => {
      steps.push({ ...of, kind: 'in' })
    },
    take: (of) => {
      steps.push({ ...of, kind: 'out' })
    },
  }
}

const inOrder = (steps: readonly Step[]) => [...steps].sort((a, b) => a.at - b.at)

/** Dollars x days within the month of what a plan puts in, at the price that the vault really has. */
export function measureUsdDays(steps: readonly Step[]): number {
  const lots = new Map<TestVault, Map<string, { shares: number; since: number }>>()
  let total = 0
  const settle = (vault: TestVault, { lot, to }: { lot: { shares: number; since: number }; to: number }) => {
    const until = Math.max(0, Math.min(monthSeconds, to))
    total += (lot.shares * vault.priceAt((lot.since + until) / 2) * (until - lot.since)) / day
    lot.since = until
  }
  for (const step of inOrder(steps)) {
    if (step.at >= monthSeconds || (step.kind === 'in' && step.isCover)) continue
    const { vault, wallet } = step
    const ofVault = lots.get(vault) ?? new Map<string, { shares: number; since: number }>()
    lots.set(vault, ofVault)
    const lot = ofVault.get(wallet) ?? { shares: 0, since: 0 }
    ofVault.set(wallet, lot)
    settle(vault, { lot, to: Math.floor(step.at / vault.blockSeconds) * vault.blockSeconds })
    if (step.kind === 'in') lot.shares += step.usd / vault.priceAt(step.at)
    else lot.shares *= 1 - (step.part ?? 1)
  }
  for (const [vault, ofVault] of lots) for (const lot of ofVault.values()) settle(vault, { lot, to: monthSeconds })
  return total
}

/** Writes a plan into a month. `times`: by how much its dollars are multiplied; `digits`: how round they are. */
export function writePlan(month: Month, { steps }: Plan, { times = 1, digits = 7 } = {}): void {
  const bundles = new Map<string, string>()
  for (const step of inOrder(steps)) {
    if (step.at >= monthSeconds) continue
    if (step.kind === 'out') {
      const { kind: _, ...out } = step
      month.exit(out)
      continue
    }
    const { kind: _, isCover, bundle, ...put } = step
    const usd = isCover ? put.usd : Number((put.usd * times).toPrecision(digits))
    const known = bundle === undefined ? undefined : bundles.get(bundle)
    const hash = month.deposit({ ...put, usd, ...(known === undefined ? {} : { hash: known }) })
    if (bundle !== undefined) bundles.set(bundle, hash)
  }
}

/** The first drawing that the money of a cheat is enough for, or else the one that needs least. */
export function drawAffordable(random: Random, { usdDays, draw }: { usdDays: number; draw(): Plan }): Plan {
  const purse = wide(random, 50_000, 8_000_000)
  let cheapest = draw()
  let most = measureUsdDays(cheapest.steps)
  for (let tries = 0; tries < 7 && usdDays > purse * most; tries += 1) {
    const plan = draw()
    const measured = measureUsdDays(plan.steps)
    if (measured > most) [cheapest, most] = [plan, measured]
  }
  return cheapest
}

/** Writes a plan so that it comes to so many USD-days. */
export function writeSized(month: Month, plan: Plan, { usdDays, digits }: { usdDays: number; digits: number }): void {
  const measured = measureUsdDays(plan.steps)
  if (!(measured > 0)) throw new Error('a plan that holds nothing cannot be sized')
  writePlan(month, plan, { times: usdDays / measured, digits })
}

/** Chains by the seconds of their blocks. */
const chains = [
  { chainId: 1, blockSeconds: 12 },
  { chainId: 8453, blockSeconds: 2 },
  { chainId: 10, blockSeconds: 2 },
  { chainId: 42161, blockSeconds: 0.25 },
  { chainId: 100, blockSeconds: 5 },
  { chainId: 137, blockSeconds: 2 },
  { chainId: 56, blockSeconds: 0.75 },
  { chainId: 43114, blockSeconds: 1.5 },
]

export function drawVaults(month: Month, { random, count }: { random: Random; count: number }): TestVault[] {
  const own = some(random, { of: chains, count: random.int(2, Math.min(5, Math.max(2, count))) })
  return Array.from({ length: count }, (_, index) => {
    const first = wide(random, 1, 1.4)
    const perYear = between(random, 0.015, 0.16)
    return month.vault({
      ...(own[index % own.length] ?? random.pick(own)),
      snapshotSeconds: random.pick([900, 1_800, 3_600, 3_600, 3_600, 7_200, 14_400]),
      priceAt: (second) => first * (1 + (perYear * second) / (365 * day)),
    })
  })
}

/** A second of the month at which people are awake more often than not. */
export function anySecond(random: Random, from = 0, to = monthSeconds): number {
  let second = between(random, from, to)
  for (let tries = 0; tries < 3 && second % day < 6 * hour; tries += 1) second = between(random, from, to)
  return second
}

/** How a wallet's deposits are sent: by itself, through a router, or as a smart account by its owner. */
export function drawWay(random: Random, { wallet, router }: { wallet: string; router: string }) {
  const drawn = random.next()
  if (drawn < 0.6) return {}
  if (drawn < 0.85) return { target: router }
  return { sender: walletOf(`owner of ${wallet}`), target: wallet }
}

type Crowd = { random: Random; vaults: readonly TestVault[]; count: number; median: number }

/** Honest people who come, put in more, take out some, leave, give and come back as they like. */
export function drawCrowd(plan: Plan, { random, vaults, count, median }: Crowd): string[] {
  const wallets = names(random, { of: 'person', count })
  const router = random.pick(names(random, { of: 'router', count: 1 }))
  const unsigned = between(random, 0.02, 0.3)
  for (const wallet of wallets) {
    const way = drawWay(random, { wallet, router })
    const homes = some(random, { of: vaults, count: random.chance(0.25) ? 2 : 1 })
    for (const vault of homes) live(plan, { random, vault, wallet, usd: people(random, median), way, unsigned })
    if (!random.chance(0.05)) continue
    const gift = { at: anySecond(random), vault: random.pick(vaults), wallet: random.pick(wallets), sender: wallet }
    plan.put({ ...gift, usd: people(random, median / 8, 0.8) })
  }
  return wallets
}

type Life = { random: Random; vault: TestVault; wallet: string; usd: number; way: object; unsigned: number }

function live(plan: Plan, { random, vault, wallet, usd, way, unsigned }: Life): void {
  const put = (at: number, dollars: number) =>
    plan.put({
      ...{ at, vault, wallet, ...way, usd: dollars },
      attribution: random.chance(unsigned) ? 'unsigned' : 'signed',
    })
  let at = random.chance(0.4) ? -wide(random, hour, 60 * day) : anySecond(random)
  put(at, usd)
  while (random.chance(0.4)) {
    at = Math.max(0, at) + wide(random, hour, 14 * day)
    if (random.chance(0.55)) put(at, usd * wide(random, 0.1, 2))
    else plan.take({ at, vault, wallet, part: between(random, 0.05, 0.8) })
  }
  if (!random.chance(0.35)) return
  at = Math.max(0, at) + wide(random, random.chance(0.05) ? 3 * minute : 5 * hour, 25 * day)
  plan.take({ at, vault, wallet, isBare: random.chance(0.12) })
  if (random.chance(0.15)) put(at + wide(random, hour, 15 * day), usd * wide(random, 0.3, 1.5))
}

/** The hours in which a script runs, laid end to end: `seconds` of them, and which second of the month one is. */
export function drawShift(random: Random): { seconds: number; toMonth(second: number): number } {
  const firstDay = random.int(0, 12)
  const lastDay = random.int(firstDay + 6, 30)
  const isDaily = random.chance(0.4)
  const busy = isDaily || random.chance(0.5) ? 1 : between(random, 0.2, 0.7)
  const opens = isDaily ? between(random, 0, 14) * hour : 0
  const length = isDaily ? between(random, 3, 9.5) * hour : day
  const days = Array.from({ length: lastDay - firstDay + 1 }, (_, index) => firstDay + index)
  const kept = days.filter((_, index) => index === 0 || random.chance(busy))
  return {
    seconds: kept.length * length,
    toMonth: (second) => (kept[Math.floor(second / length)] ?? lastDay) * day + opens + (second % length),
  }
}
