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

/** A wallet that a sender paid for: the deposits, in their order, and what else happened to its lots. */
type Paid = { wallet: string; deposits: Move[]; firstMs: number; exitMs: number | undefined; nextMs: number | undefined; isOwn: boolean }

/**
 * Deposits that one sender paid for, for many wallets that do nothing by themselves: nearly all of the same worth and within
 * minutes, or all within some weeks. Customers of an exchange and people who get wages are paid for by one sender too, but each
 * takes money out when he wants it. Pure.
 */
export function listPaidFor(facts: PaidFacts, limits: AuditLimits): Move[] {
  const isIn = ({ change }: Move) => change.after > change.before
  const paid = facts.moves.filter((move) => isIn(move) && move.change.sender !== null && facts.isForeign(move.change))
  const groups = [...groupBy(paid, ({ change }) => change.sender).values()].filter((group) => {
    return group.length >= limits.senderWallets
  })
  if (groups.length === 0) return []
  const all = groupBy(facts.moves, ({ change }) => change.wallet)
  return groups.flatMap((group) => {
    const wallets = [...groupBy(group, ({ change }) => change.wallet)].map(([wallet, deposits]) =>
      describe({ wallet, deposits, moves: all.get(wallet) ?? [] }, facts),
    )
    const free = listFree(wallets, limits)
    const bound = wallets.filter((each) => !free.has(each))
    if (isCrowd({ wallets, bound }, limits)) return bound.flatMap(({ deposits }) => deposits)
    const names = new Set(bound.map(({ wallet }) => wallet))
    return listAlike(group, names, limits)
  })
}

function describe(
  { wallet, deposits, moves }: { wallet: string; deposits: Move[]; moves: readonly Move[] },
  { held, isForeign }: PaidFacts,
): Paid {
  const entries = moves.filter(({ change }) => change.after > change.before)
  const times = entries.map(({ change }) => change.atMs).sort((a, b) => a - b)
  const exits = moves.filter(({ change }) => change.after < change.before).map(({ change }) => change.atMs)
  const isOwn = held.has(wallet) || entries.some(({ change }) => !isForeign(change))
  const [firstMs = 0, nextMs] = times
  return { wallet, deposits, firstMs, exitMs: exits.length > 0 ? Math.min(...exits) : undefined, nextMs, isOwn }
}

/** Wallets that did something for themselves: deposited or had deposited before, or left, or got more, at a time of their own. */
function listFree(wallets: readonly Paid[], { senderTogetherSeconds }: AuditLimits): Set<Paid> {
  const free = new Set(wallets.filter(({ isOwn }) => isOwn))
  const sides: ((paid: Paid) => number | undefined)[] = [({ exitMs }) => exitMs, ({ nextMs }) => nextMs]
  for (const side of sides) {
    const own = wallets.flatMap((paid) => {
      const atMs = side(paid)
      return atMs === undefined ? [] : [{ paid, atMs, lasted: atMs - paid.firstMs }]
    })
    const together = findWindow(own.map(({ atMs }) => atMs).sort((a, b) => a - b), senderTogetherSeconds * 1_000)
    const stays = own.map(({ lasted }) => lasted).sort((a, b) => a - b)
    const usual = stays[stays.length >> 1] ?? 0
    for (const { paid, atMs, lasted } of own) {
      const isTogether = together !== undefined && atMs >= together.fromMs && atMs <= together.toMs
      if (!isTogether && Math.abs(lasted - usual) * 20 > usual) free.add(paid)
    }
  }
  return free
}

/** The stretch of a length with the most of some instants; none where they are too few to say. */
function findWindow(times: readonly number[], lengthMs: number): { fromMs: number; toMs: number } | undefined {
  let [first, best, most] = [0, 0, 0]
  times.forEach((at, place) => {
    while ((times[first] ?? at) < at - lengthMs) first += 1
    if (place - first + 1 > most) [best, most] = [times[first] ?? at, place - first + 1]
  })
  return most >= 2 ? { fromMs: best, toMs: best + lengthMs } : undefined
}

/** Whether fewer wallets than people would do something for themselves, and all came within a time, or hardly any at all. */
function isCrowd({ wallets, bound }: { wallets: readonly Paid[]; bound: readonly Paid[] }, limits: AuditLimits): boolean {
  if (bound.length < limits.senderWallets) return false
  const free = wallets.length - bound.length
  const times = bound.map(({ firstMs }) => firstMs).sort((a, b) => a - b)
  const most = Math.ceil(times.length * 0.9)
  const isWithin = times.some((at, place) => {
    const last = times[place + most - 1]
    return last !== undefined && last - at <= limits.senderSeconds * 1_000
  })
  const usual = Math.sqrt(wallets.length)
  return isWithin ? free <= usual : wallets.length >= limits.senderWallets * 10 && free * 4 <= usual
}

/** Deposits of a batch nearly all of which have the same worth. */
function listAlike(group: readonly Move[], bound: ReadonlySet<string>, limits: AuditLimits): Move[] {
  return splitBatches(group, limits.batchSeconds).flatMap((batch) => {
    const sorted = batch.map(({ worth }) => worth).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    const median = sorted[sorted.length >> 1] ?? 0n
    const alike = batch.filter(({ worth, change }) => {
      return bound.has(change.wallet) && isAlike(worth, median, limits.batchAlikeBps)
    })
    const wallets = new Set(alike.map(({ change }) => change.wallet)).size
    const all = new Set(batch.map(({ change }) => change.wallet)).size
    return wallets >= limits.senderWallets && wallets * 100 >= all * limits.batchAlikePercent ? alike : []
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

/** Whether a holding is dust: below the floor of its vault, or worth less than a setting says. Pure. */
export const isDust = ({ shares, worth, floor }: Holding, { floorUsd }: AuditLimits): boolean =>
  shares < floor || (worth > 0n && worth < usdToUnits(floorUsd))
