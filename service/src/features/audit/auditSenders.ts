import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import { isAlike, type Move } from './auditLoops.js'
import { type AuditChange, usdToUnits } from './auditPieces.js'

export type PaidFacts = {
  /** Each change of a lot once. */
  moves: readonly Move[]
  /** Wallets that held something when the month began. */
  held: ReadonlySet<string>
  /** Whether a wallet's change was sent by somebody else. */
  isForeign: (change: AuditChange) => boolean
}

/** A wallet that a sender paid for: the deposits, and whether anything says that somebody else owns it. */
type Paid = { wallet: string; deposits: Move[]; firstMs: number; worth: bigint; isFree: boolean }

/**
 * Deposits that one sender paid for, for many wallets that do nothing as people do: nearly all of the same worth, or all within
 * some weeks. Customers of an exchange and people who get wages are paid for by one sender too, but they come one after another for
 * as long as there is the exchange, with amounts of their own, or take out a part when they want it. Pure.
 */
export function listPaidFor(facts: PaidFacts, limits: AuditLimits): Move[] {
  const isIn = ({ change }: Move) => change.after > change.before
  const paid = facts.moves.filter((move) => isIn(move) && move.change.sender !== null && facts.isForeign(move.change))
  const groups = [...groupBy(paid, ({ change }) => change.sender).values()].filter((group) => {
    return new Set(group.map(({ change }) => change.wallet)).size >= limits.senderWallets
  })
  if (groups.length === 0) return []
  const all = groupBy(facts.moves, ({ change }) => change.wallet)
  return groups.flatMap((group) => {
    const wallets = [...groupBy(group, ({ change }) => change.wallet)].map(([wallet, deposits]) =>
      describe({ wallet, deposits, moves: all.get(wallet) ?? [] }, facts),
    )
    const bound = wallets.filter(({ isFree }) => !isFree)
    if (isCrowd({ wallets, bound }, limits)) return bound.flatMap(({ deposits }) => deposits)
    return listAlike(group, new Set(bound.map(({ wallet }) => wallet)), limits)
  })
}

function describe(
  { wallet, deposits, moves }: { wallet: string; deposits: Move[]; moves: readonly Move[] },
  { held, isForeign }: PaidFacts,
): Paid {
  const entries = moves.filter(({ change }) => change.after > change.before)
  const firstMs = entries.reduce((first, { change }) => Math.min(first, change.atMs), Number.POSITIVE_INFINITY)
  const isFree = held.has(wallet) || entries.some(({ change }) => !isForeign(change)) || takesPart(moves)
  return { wallet, deposits, firstMs, worth: deposits.reduce((sum, { worth }) => sum + worth, 0n), isFree }
}

/** Whether a part was taken out of a vault, and the rest left there for longer. */
function takesPart(moves: readonly Move[]): boolean {
  return [...groupBy(moves, ({ vault }) => vault).values()].some((own) => {
    const sorted = own.map(({ change }) => change).sort((a, b) => a.atMs - b.atMs)
    return sorted.some(({ before, after, atMs }, place) => {
      if (after >= before || after * keptPart <= before) return false
      for (let next = place + 1; (sorted[next]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs + soonMs; next++)
        if (sorted[next]?.after === 0n) return false
      return true
    })
  })
}
/** The part of a holding that is worth leaving in a vault, and how long after a withdrawal the rest may follow. */
const [keptPart, soonMs] = [20n, 900_000]

/** Whether fewer wallets than people would be free, and most came within a time, with amounts that are not those of all sorts. */
function isCrowd(
  { wallets, bound }: { wallets: readonly Paid[]; bound: readonly Paid[] },
  limits: AuditLimits,
): boolean {
  const free = wallets.length - bound.length
  if (bound.length < limits.senderWallets || free * 100 > wallets.length * limits.senderFreePercent) return false
  const worths = bound.map(({ worth }) => Number(worth)).sort((a, b) => a - b)
  const at = (part: number) => worths[Math.floor((worths.length - 1) * part)] ?? 0
  const isUnlike = worths.length >= 30 && at(0.9) > at(0.1) * limits.senderUnlikeTimes
  const times = bound.map(({ firstMs }) => firstMs).sort((a, b) => a - b)
  const most = Math.ceil(times.length * 0.9)
  const isWithin = times.some((from, place) => {
    const last = times[place + most - 1]
    return last !== undefined && last - from <= limits.senderSeconds * 1_000
  })
  return isWithin && !isUnlike
}

/** Deposits of a batch nearly all of which have the same worth. */
function listAlike(group: readonly Move[], bound: ReadonlySet<string>, limits: AuditLimits): Move[] {
  return splitBatches(group, limits.senderBatchSeconds).flatMap((batch) => {
    const sorted = batch.map(({ worth }) => worth).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const median = sorted[sorted.length >> 1] ?? 0n
    const alike = batch.filter(({ worth, change }) => {
      return bound.has(change.wallet) && isAlike(worth, median, limits.senderAlikeBps)
    })
    const wallets = new Set(alike.map(({ change }) => change.wallet)).size
    const all = new Set(batch.map(({ change }) => change.wallet)).size
    return wallets >= limits.senderWallets && wallets * 100 >= all * limits.senderAlikePercent ? alike : []
  })
}

/** Deposits that follow one another within minutes. */
function splitBatches(deposits: readonly Move[], seconds: number): Move[][] {
  const batches: Move[][] = []
  let lastMs = Number.NEGATIVE_INFINITY
  for (const move of [...deposits].sort((a, b) => a.change.atMs - b.change.atMs)) {
    if (move.change.atMs - lastMs > seconds * 1_000) batches.push([])
    batches.at(-1)?.push(move)
    lastMs = move.change.atMs
  }
  return batches
}

/** A wallet's shares of a vault at an instant, with what they were worth; 0 where no price was known. */
export type Holding = { shares: bigint; worth: bigint; floor: bigint }

/** Whether all that a wallet ever held is dust: below the floor of its vault, or worth less than a setting says. Pure. */
export const isDust = (holdings: readonly Holding[], { floorUsd }: Pick<AuditLimits, 'floorUsd'>): boolean =>
  holdings.every(({ shares, worth, floor }) => shares < floor || (worth > 0n && worth < usdToUnits(floorUsd)))

/** The part of wallets with a few dollars, to those with ten times as much, from which they are no people with little money. */
const smallTimes = 2

/**
 * US dollars below which a holding is dust: `floorUsd`, or `smallUsd` where many more wallets hold less than that than up to ten
 * times as much, as amounts of people never are. Pure.
 */
export function listSmall(wallets: readonly (readonly Holding[])[], limits: AuditLimits): number {
  const [low, high] = [1, 10].map((times) => Number(usdToUnits(limits.smallUsd * times))) as [number, number]
  const mosts = wallets.map((own) => Math.max(0, ...own.map(({ worth }) => Number(worth))))
  const small = mosts.filter((most) => most > 0 && most < low).length
  const middle = mosts.filter((most) => most >= low && most < high).length
  return small >= limits.smallWallets && small >= middle * smallTimes ? limits.smallUsd : limits.floorUsd
}
