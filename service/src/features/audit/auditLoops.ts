import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import type { AuditChange } from './auditPieces.js'

/** A change of a lot with its worth, in units of 10^-18 dollars. */
export type Move = { vault: string; change: AuditChange; worth: bigint }

/** A wallet's withdrawal or deposit, at once or in parts soon after one another. */
type Side = { wallet: string; vault: string; atMs: number; worth: bigint; changes: AuditChange[] }
/** A wallet's withdrawal, and the deposit of the same worth soon after it. */
type Handover = { exit: Side; entry: Side; gapMs: number }

/** Who takes out and puts in within this time moves his own, at any worth. */
export const atOnceMs = 120_000
/** The least handovers of a loop, one after another. */
const chainMin = 3

/** Changes that hand value around: from a wallet to another, and over others or none back to it. Pure. */
export function listLooped(moves: readonly Move[], limits: AuditLimits): AuditChange[] {
  const found: AuditChange[] = []
  const handovers = matchNearest(listHandovers(moves, limits))
  const group = groupWallets(handovers)
  const within = handovers.filter(({ exit, entry }) => group.get(exit.wallet) === group.get(entry.wallet))
  for (const same of groupBy(within, ({ exit }) => group.get(exit.wallet)).values())
    if (measureChain(same) >= chainMin)
      found.push(...same.flatMap(({ exit, entry }) => [...exit.changes, ...entry.changes]))
  return found
}

/** The deposits that each withdrawal may have become: the next few of its worth, and the next one of its own wallet. */
function listHandovers(moves: readonly Move[], limits: AuditLimits): Handover[] {
  const { loopSeconds, loopBps, loopChoices, loopPartSeconds, moveSeconds, moveBps } = limits
  const isOut = ({ change }: Move) => change.after < change.before
  const sorted = [...moves].sort((a, b) => a.change.atMs - b.change.atMs)
  const entries = listSides(
    sorted.filter((move) => !isOut(move)),
    loopPartSeconds,
  )
  const rungOf = ({ worth }: Side) => Math.floor((Math.log(Number(worth) + 1) * 10_000) / Math.max(loopBps, 1))
  const [rungs, owns] = [groupBy(entries, rungOf), groupBy(entries, ({ wallet }) => wallet)]
  return listSides(sorted.filter(isOut), loopPartSeconds).flatMap((exit) => {
    const rung = rungOf(exit)
    const sinceMs = exit.changes.at(-1)?.atMs ?? exit.atMs
    const pick = (some: readonly Side[] | undefined, most: number, isWanted: (entry: Side) => boolean) => {
      const found: Side[] = []
      for (let next = findFirst(some ?? [], exit.atMs); found.length < most; next++) {
        const entry = some?.[next]
        if (!entry || entry.atMs > sinceMs + loopSeconds * 1_000) break
        if (isWanted(entry) && isAlike(exit.worth, entry.worth, loopBps)) found.push(entry)
      }
      return found
    }
    const own = owns.get(exit.wallet) ?? []
    const moved = own.slice(findFirst(own, exit.atMs), findFirst(own, sinceMs + moveSeconds * 1_000)).find((entry) => {
      if (entry.atMs <= sinceMs + atOnceMs) return true
      return entry.vault !== exit.vault && isAlike(exit.worth, entry.worth, moveBps)
    })
    if (moved) return [{ exit, entry: moved, gapMs: -1 }]
    const mine = pick(own, 1, () => true)
    const others = [rung - 1, rung, rung + 1]
      .flatMap((each) => pick(rungs.get(each), loopChoices, ({ wallet }) => wallet !== exit.wallet))
      .sort((a, b) => a.atMs - b.atMs)
      .slice(0, loopChoices)
    return [...mine, ...others].map((entry) => {
      return { exit, entry, gapMs: Math.max(0, entry.atMs - sinceMs) }
    })
  })
}

/** The place of the first side from an instant on. */
function findFirst(sides: readonly Side[], atMs: number): number {
  let [low, high] = [0, sides.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sides[middle]?.atMs ?? atMs) < atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** Moves, and what each wallet moved in parts, by when they began. */
function listSides(sorted: readonly Move[], partSeconds: number): Side[] {
  const sides = sorted.map(
    ({ change, worth, vault }): Side => ({ wallet: change.wallet, vault, atMs: change.atMs, worth, changes: [change] }),
  )
  for (const own of groupBy(sides, ({ wallet }) => wallet).values()) {
    let open: Side | undefined
    for (const { wallet, vault, atMs, worth, changes } of own) {
      const isPart =
        open && atMs - (open.changes.at(-1)?.atMs ?? 0) <= partSeconds * 1_000 && open.changes.length < partsMax
      open =
        open && isPart
          ? { ...open, worth: open.worth + worth, changes: [...open.changes, ...changes] }
          : { wallet, vault, atMs, worth, changes }
      if (isPart) sides.push(open)
    }
  }
  return sides.sort((a, b) => a.atMs - b.atMs)
}
const partsMax = 4

/**
 * Each change is of one handover, of the quickest that there is. Who puts in again what he took out as quickly hands it to nobody:
 * a vault that moves, a wallet that rebalances.
 */
function matchNearest(handovers: readonly Handover[]): Handover[] {
  const used = new Set<AuditChange>()
  const isOwn = ({ exit, entry }: Handover) => exit.wallet === entry.wallet
  const sorted = [...handovers].sort((a, b) => a.gapMs - b.gapMs || Number(isOwn(b)) - Number(isOwn(a)))
  return sorted.filter((handover) => {
    const changes = [...handover.exit.changes, ...handover.entry.changes]
    if (changes.some((change) => used.has(change))) return false
    for (const change of changes) used.add(change)
    return !isOwn(handover)
  })
}

/** How many handovers follow one another at most, each of what the one before brought. */
function measureChain(handovers: readonly Handover[]): number {
  const longest = new Map<string, number>()
  const lengths = new Map<Handover, number>()
  const events = handovers.flatMap((handover) => [
    { handover, atMs: handover.exit.atMs, isIn: false },
    { handover, atMs: handover.entry.atMs, isIn: true },
  ])
  for (const { handover, isIn } of events.sort((a, b) => a.atMs - b.atMs || Number(a.isIn) - Number(b.isIn))) {
    const { exit, entry } = handover
    if (!isIn) lengths.set(handover, (longest.get(exit.wallet) ?? 0) + 1)
    else longest.set(entry.wallet, Math.max(longest.get(entry.wallet) ?? 0, lengths.get(handover) ?? 1))
  }
  return [...lengths.values()].reduce((most, each) => Math.max(most, each), 0)
}

export function isAlike(one: bigint, other: bigint, bps: number): boolean {
  const [less, more] = one < other ? [one, other] : [other, one]
  return less > 0n && (more - less) * 10_000n <= more * BigInt(Math.round(bps))
}

/** Numbers wallets so that two have the same number where value went from each to the other (Tarjan's strong components). */
function groupWallets(handovers: readonly Handover[]): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>()
  for (const { exit, entry } of handovers) next.set(exit.wallet, [...(next.get(exit.wallet) ?? []), entry.wallet])
  const [index, low, group] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  const stack: string[] = []
  let groups = 0
  for (const root of next.keys()) {
    if (index.has(root)) continue
    const work = [{ wallet: root, at: 0 }]
    while (work.length > 0) {
      const frame = work.at(-1)
      if (!frame) break
      const { wallet } = frame
      if (frame.at === 0) {
        index.set(wallet, index.size)
        low.set(wallet, index.size - 1)
        stack.push(wallet)
      }
      const to = next.get(wallet)?.[frame.at]
      frame.at += 1
      if (to !== undefined) {
        if (!index.has(to)) work.push({ wallet: to, at: 0 })
        else if (!group.has(to)) low.set(wallet, Math.min(low.get(wallet) ?? 0, index.get(to) ?? 0))
        continue
      }
      work.pop()
      const above = work.at(-1)
      if (above) low.set(above.wallet, Math.min(low.get(above.wallet) ?? 0, low.get(wallet) ?? 0))
      if (low.get(wallet) !== index.get(wallet)) continue
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        group.set(member, groups)
        if (member === wallet) break
      }
      groups += 1
    }
  }
  return group
}
