import type { Random } from '../simulation/random.js'
import { monthSeconds, openMonth, type TestVault } from './month.js'
import {
  about,
  between,
  day,
  drawAffordable,
  drawCrowd,
  drawShift,
  drawVaults,
  hour,
  type Month,
  measureUsdDays,
  minute,
  names,
  openPlan,
  type Plan,
  people,
  some,
  wait,
  wide,
  wideInt,
  writePlan,
  writeSized,
} from './sixthPlan.js'

/** Markets of a distributor that is honest, and the ways in which one that is not adds to them. */

export type Kind = 'churn' | 'passToAndFro' | 'passRound' | 'replay' | 'payForMany' | 'scatter' | 'stage' | 'straddle'

/** `usdDays`: what the honest wallets of the market come to. */
export type Drawn = { month: Month; random: Random; vaults: TestVault[]; wallets: string[]; usdDays: number }

/** Where the drawings of each sort begin. */
export const seeds = { washing: 613, honest: 287 }

export function drawMarket(random: Random): Drawn {
  const month = openMonth()
  const vaults = drawVaults(month, { random, count: random.int(3, 8) })
  const plan = openPlan()
  const count = wideInt(random, 70, 600)
  const wallets = drawCrowd(plan, { random, vaults, count, median: wide(random, 250, 8_000) })
  writePlan(month, plan)
  return { month, random, vaults, wallets, usdDays: measureUsdDays(plan.steps) }
}

export const ways: Record<Kind, (drawn: Drawn, usdDays: number) => void> = {
  ...{ churn, passToAndFro, passRound, replay },
  ...{ payForMany, scatter, stage, straddle },
}

/** Some cheats use round amounts, others whatever their script comes to. */
const drawDigits = (random: Random) => random.pick([3, 4, 4, 6, 9])

/** A cheat's transactions go straight to the vault, or through one router. */
const drawTarget = (random: Random) =>
  random.chance(0.35) ? { target: random.pick(names(random, { of: 'router', count: 1 })) } : {}

/** Pocket money that makes wallets look used before the month begins. */
function age(plan: Plan, { random, vaults, wallets }: Pick<Drawn, 'random' | 'vaults' | 'wallets'>): void {
  if (!random.chance(0.3)) return
  for (const wallet of wallets) {
    const at = -wide(random, day, 90 * day)
    plan.put({ at, vault: random.pick(vaults), wallet, usd: wide(random, 1, 25), isCover: true })
  }
}

type Span = { at: number; out: number; until?: number }
type Stay = Span & { random: Random; vault: TestVault; wallet: string; usd: number; target?: string }

/** In at once, out at once or by two or three parts, not in the deposit's block. `until`: no part goes before. */
function stay(plan: Plan, { random, vault, wallet, at, out, usd, until = at, ...sent }: Stay): void {
  const end = Math.max(out, at + 1.01 * vault.blockSeconds)
  plan.put({ at, vault, wallet, usd, ...sent })
  for (let left = random.chance(0.15) ? random.int(1, 2) : 0; left > 0; left -= 1) {
    plan.take({ at: end - ((end - until) * left) / 5, vault, wallet, part: between(random, 0.2, 0.6) })
  }
  plan.take({ at: end, vault, wallet })
}

function drawChurn({ random, vaults }: Drawn): Plan {
  const plan = openPlan()
  const homes = some(random, { of: vaults, count: random.int(1, 3) })
  const wallets = names(random, { of: 'churner', count: wideInt(random, 1, 30) })
  const rounds = Math.max(5, Math.ceil(wideInt(random, 60, 2_400) / wallets.length))
  const [minutes, noise] = [wide(random, 1.5, 45), random.next() * 0.5]
  const sent = drawTarget(random)
  const shift = drawShift(random)
  const cycle = shift.seconds / rounds
  age(plan, { random, vaults: homes, wallets })
  for (const wallet of wallets) {
    const mine = random.pick(homes)
    for (let round = 0; round < rounds; round += 1) {
      const held = Math.min(minutes * minute * wide(random, 0.5, 2), cycle * 0.55)
      const at = shift.toMonth((round + random.next() * 0.4) * cycle)
      const vault = random.chance(0.7) ? mine : random.pick(homes)
      stay(plan, { random, vault, wallet, at, out: at + held, usd: about(random, noise), ...sent })
    }
  }
  return plan
}

function churn(drawn: Drawn, usdDays: number): void {
  const plan = drawAffordable(drawn.random, { usdDays, draw: () => drawChurn(drawn) })
  writeSized(drawn.month, plan, { usdDays, digits: drawDigits(drawn.random) })
}

type Ring = { random: Random; homes: readonly TestVault[]; ring: readonly string[]; turns: number; usd: number }

/** The same money from wallet to wallet: out of one, and after a while into the next. */
function pass(plan: Plan, { random, homes, ring, turns, usd, ...sent }: Ring & { target?: string }): void {
  let [at, vault, money] = [between(random, 0, 9 * day), random.pick(homes), usd]
  const turn = (between(random, at + 12 * day, monthSeconds - hour) - at) / turns
  const [gap, uneven] = [wide(random, 15, 8 * hour), between(random, 0.05, 0.7)]
  const [fee, kept, splits] = [wide(random, 0.00001, 0.002), random.next() * 0.08, random.chance(0.4) ? 0.3 : 0]
  for (let step = 0; step < turns && at < monthSeconds - 10 * minute; step += 1) {
    const wallet = ring[step % ring.length] ?? random.pick(ring)
    const pause = Math.min(gap * wide(random, 0.4, 2.5), turn * 0.45)
    const out = Math.min(Math.max(at + 40, at + turn * about(random, uneven) - pause), monthSeconds - minute)
    const late = Math.min((out - at) / 3, wide(random, 20, 2 * hour))
    const first = random.chance(splits) ? between(random, 0.25, 0.75) : 1
    plan.put({ at, vault, wallet, usd: money * first, ...sent })
    if (first < 1) plan.put({ at: at + late, vault, wallet, usd: money * (1 - first), ...sent })
    if (random.chance(splits)) plan.take({ at: out - late / 2, vault, wallet, part: between(random, 0.2, 0.7) })
    const isWhole = homes.length > 1 || step >= turns - ring.length || random.chance(0.6)
    const part = isWhole ? 1 : 1 - random.next() * kept
    plan.take({ at: out, vault, wallet, part })
    money = isWhole ? usd * (1 - fee) * about(random, fee) : money * part
    if (random.chance(0.3)) vault = random.pick(homes)
    at = out + pause
  }
}

function passInRings({ month, random, vaults }: Drawn, of: { usdDays: number; size(): number; turns(): number }): void {
  const plan = openPlan()
  const digits = random.pick([4, 5, 7, 9])
  const homes = some(random, { of: vaults, count: random.chance(0.6) ? 1 : random.int(2, 3) })
  for (let rings = wideInt(random, 1, 6); rings > 0; rings -= 1) {
    const ring = names(random, { of: 'ring', count: of.size() })
    age(plan, { random, vaults: homes, wallets: ring })
    const usd = wide(random, 1, 5)
    pass(plan, { random, homes, ring, turns: of.turns() * ring.length, usd, ...drawTarget(random) })
  }
  writeSized(month, plan, { usdDays: of.usdDays, digits })
}

function passToAndFro(drawn: Drawn, usdDays: number): void {
  passInRings(drawn, { usdDays, size: () => 2, turns: () => wideInt(drawn.random, 4, 180) })
}

function passRound(drawn: Drawn, usdDays: number): void {
  passInRings(drawn, { usdDays, size: () => drawn.random.int(3, 8), turns: () => wideInt(drawn.random, 2, 40) })
}

/** Signatures that counted once: each wallet's own again, or a few wallets' for many others. */
function replay({ month, random, vaults }: Drawn, usdDays: number): void {
  const plan = openPlan()
  const [digits, sent] = [drawDigits(random), drawTarget(random)]
  const signers = names(random, { of: 'signer', count: wideInt(random, 1, 50) })
  const others = names(random, { of: 'other', count: wideInt(random, 1, 120) })
  const wallets = random.chance(0.55) ? signers : others
  const homes = some(random, { of: vaults, count: random.int(1, 4) })
  const [spread, leaves, days] = [random.next() * 1.2, between(random, 0.1, 0.9), wide(random, 0.3, 15)]
  const begins = between(random, 0.2, 10) * day
  for (const wallet of signers) {
    const at = random.chance(0.4) ? -wide(random, hour, 40 * day) : random.next() * begins
    plan.put({ at, vault: random.pick(homes), wallet, usd: wide(random, 5, 400), isCover: true, ...sent })
  }
  for (let left = Math.max(wallets.length, wideInt(random, 4, 500)); left > 0; left -= 1) {
    const [vault, wallet] = [random.pick(homes), random.pick(wallets)]
    const at = between(random, begins, monthSeconds - 2 * day)
    plan.put({ at, vault, wallet, usd: people(random, 1, spread), isReplayed: true, ...sent })
    if (random.chance(leaves)) plan.take({ at: at + days * day * wide(random, 0.3, 2), vault, wallet })
  }
  writeSized(month, plan, { usdDays, digits })
}

/** One sender pays: a deposit after another by a script, or some in each transaction of a contract. */
function payForMany({ month, random, vaults }: Drawn, usdDays: number): void {
  const plan = openPlan()
  const digits = drawDigits(random)
  const sender = random.pick(names(random, { of: 'payer', count: 1 }))
  const contract = random.pick(names(random, { of: 'batch', count: 1 }))
  const wallets = names(random, { of: 'paid', count: wideInt(random, 20, 1_500) })
  const batch = random.chance(0.45) ? wideInt(random, 4, 80) : 1
  const [gap, spread] = [wide(random, 5, 6 * hour), random.pick([0, 0.05, 0.3, 0.8, 1.2])]
  const [again, leaves, days] = [random.next() * 0.3, random.chance(0.4) ? 0.1 : 0.9, wide(random, 1, 20)]
  const homes = some(random, { of: vaults, count: random.int(1, 3) })
  const pace = Math.min(gap, (22 * day) / wallets.length) * batch
  const [isAtOnce, takesItself] = [random.chance(0.3), random.chance(0.5)]
  let at = between(random, 0.05, 5) * day
  const end = at + 2 * day + days * day
  for (const [index, wallet] of wallets.entries()) {
    if (index % batch === 0) at += wait(random, pace * 0.9) + pace * 0.1
    const vault = homes[Math.floor(index / batch) % homes.length] ?? random.pick(homes)
    const bundled = batch > 1 ? { bundle: `${Math.floor(index / batch)}`, target: contract } : {}
    const paid = { at: Math.min(at, 29 * day), vault, wallet, sender }
    plan.put({ ...paid, usd: people(random, 1, spread), ...bundled })
    const more = at + wide(random, hour, 6 * day)
    if (random.chance(again)) plan.put({ ...paid, at: Math.min(more, 30 * day), usd: people(random, 0.5, spread) })
    if (!random.chance(leaves)) continue
    const out = isAtOnce ? end + random.next() * 3 * hour : at + days * day * about(random, 0.5)
    plan.take({ ...paid, at: Math.max(paid.at + 12 * hour, out), ...(takesItself ? { sender: wallet } : {}) })
  }
  writeSized(month, plan, { usdDays, digits })
}

/** No more wallets than the USD-days can give dust that still counts, and no more than 9,000. */
function scatter({ month, random, vaults }: Drawn, usdDays: number): void {
  const plan = openPlan()
  const homes = some(random, { of: vaults, count: random.int(1, 4) })
  const [begins, lasts] = [between(random, 0, 14) * day, wide(random, 0.2, 14) * day]
  const [stays, days] = [random.chance(0.6) ? 1 : random.next(), wide(random, 0.5, 12)]
  const spread = random.pick([0, 0.1, 0.5])
  const usual = (stays * (monthSeconds - begins - lasts / 2)) / day + (1 - stays) * days
  const dust = wide(random, 0.05, 3)
  const wanted = usdDays / (usual * dust)
  const most = Math.min(random.chance(0.7) ? 9_000 : random.int(3_000, 9_000), usdDays / (usual * 0.05))
  const wallets = names(random, { of: 'dust', count: Math.max(1, Math.floor(Math.min(wanted, most))) })
  const funders = names(random, { of: 'funder', count: wideInt(random, 1, 20) })
  const [isFunded, sent, isSmooth] = [random.chance(0.25), drawTarget(random), random.chance(0.4)]
  for (const [index, wallet] of wallets.entries()) {
    const at = begins + lasts * (isSmooth ? (index + random.next()) / wallets.length : random.next() ** 2)
    const vault = random.pick(homes)
    const paid = isFunded ? { ...sent, sender: random.pick(funders) } : sent
    plan.put({ at, vault, wallet, usd: people(random, 1, spread), ...paid })
    if (!random.chance(stays)) plan.take({ at: at + days * day * about(random, 0.6), vault, wallet })
  }
  // As much as so many wallets hold of dust: more would be no dust.
  const held = Math.min(usdDays, wallets.length * usual * dust)
  writeSized(month, plan, { usdDays: held, digits: random.pick([3, 4, 6]) })
}

type Push = { vault: TestVault; second: number; factor: number }

/** The price is pushed up for some snapshots on end; money comes in then, and goes as the price is back, or before. */
function drawStage({ random, vaults }: Drawn, pushes: Push[]): Plan {
  const plan = openPlan()
  const wallets = names(random, { of: 'stager', count: wideInt(random, 1, 15) })
  const [factor, longest] = [wide(random, 1.02, 6), random.int(1, 6)]
  const sent = drawTarget(random)
  const [noise, after] = [random.next() * 0.5, wide(random, 0.02, 1.5)]
  age(plan, { random, vaults, wallets })
  for (const vault of some(random, { of: vaults, count: random.int(1, 3) })) {
    const { snapshotSeconds: every, blockSeconds } = vault
    const room = Math.floor(monthSeconds / every) - 2
    const stretches = Math.min(wideInt(random, 3, 45), Math.floor(room / (longest + 3)))
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const span = room / stretches
      const length = random.int(1, longest)
      const first = 1 + Math.floor(span * stretch + random.next() * (span - length - 2))
      const end = (first + length) * every
      const pushed = 1 + (factor - 1) * about(random, 0.4)
      for (let next = first; next < first + length; next += 1) {
        pushes.push({ vault, second: next * every, factor: pushed * about(random, 0.003) })
      }
      const at = first * every + blockSeconds * 1.5 + wide(random, 1, Math.min(0.2 * every, 8 * minute))
      for (const wallet of some(random, { of: wallets, count: random.int(1, 3) })) {
        const out = random.chance(0.7) ? end + every * after * random.next() : between(random, (at + end) / 2, end)
        const begun = at + random.int(0, 5) * blockSeconds
        stay(plan, { random, vault, wallet, at: begun, out, usd: about(random, noise), ...sent })
      }
    }
  }
  return plan
}

function stage(drawn: Drawn, usdDays: number): void {
  const staged = new Map<Plan, Push[]>()
  const draw = () => {
    const pushes: Push[] = []
    const plan = drawStage(drawn, pushes)
    staged.set(plan, pushes)
    return plan
  }
  const plan = drawAffordable(drawn.random, { usdDays, draw })
  for (const { vault, second, factor } of staged.get(plan) ?? []) vault.spikes.set(second, factor)
  writeSized(drawn.month, plan, { usdDays, digits: drawDigits(drawn.random) })
}

/** Money that is there when a quarter of an hour, an hour or a day ends, and little else. */
function drawStraddle({ random, vaults }: Drawn): Plan {
  const plan = openPlan()
  const bucket = random.pick([15 * minute, hour, day])
  const ends = Math.floor(monthSeconds / bucket) - 1
  const most = Math.min(bucket / 8, 45 * minute)
  const [before, behind] = [wide(random, 20, most), wide(random, 20, most)]
  const share = bucket === day ? between(random, 0.4, 1) : wide(random, 60 / ends, 0.8)
  const wallets = names(random, { of: 'straddler', count: wideInt(random, 1, 25) })
  const homes = some(random, { of: vaults, count: random.int(1, 3) })
  const [noise, sent] = [random.next() * 0.5, drawTarget(random)]
  const [lone, isLone] = [random.pick(wallets), random.chance(0.3)]
  age(plan, { random, vaults: homes, wallets })
  for (let end = 1; end <= ends; end += 1) {
    if (!random.chance(share)) continue
    for (const wallet of isLone ? [lone] : some(random, { of: wallets, count: random.int(1, 3) })) {
      const vault = random.pick(homes)
      const at = end * bucket - Math.max(1.01 * vault.blockSeconds, before * wide(random, 0.5, 1.8))
      const out = end * bucket + Math.max(vault.blockSeconds, behind * wide(random, 0.5, 1.8))
      stay(plan, { random, vault, wallet, at, out, until: end * bucket, usd: about(random, noise), ...sent })
    }
  }
  return plan
}

function straddle(drawn: Drawn, usdDays: number): void {
  const plan = drawAffordable(drawn.random, { usdDays, draw: () => drawStraddle(drawn) })
  writeSized(drawn.month, plan, { usdDays, digits: drawDigits(drawn.random) })
}
