import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import type { AuditChange } from './auditPieces.js'

/** A change of a lot with its worth, in units of 10^-18 dollars. */
export type Move = { chainId: number; change: AuditChange; worth: bigint }

/** A wallet's withdrawal, and another's deposit of the same worth soon after it. */
type Handover = { from: string; to: string; exit: AuditChange; entry: AuditChange }

/** Changes that hand value around: from a wallet to another, and over others or none back to it. Pure. */
export function listLooped(moves: readonly Move[], limits: AuditLimits): AuditChange[] {
  const found: AuditChange[] = []
  for (const [, own] of groupBy(moves, ({ chainId }) => chainId)) {
    const handovers = listHandovers(own, limits)
    const group = groupWallets(handovers)
    for (const { from, to, exit, entry } of handovers) if (group.get(from) === group.get(to)) found.push(exit, entry)
  }
  return found
}

function listHandovers(moves: readonly Move[], limits: AuditLimits): Handover[] {
  const { loopBlocks, loopBps, loopChoices } = limits
  const sorted = [...moves].sort((a, b) => a.change.blockNumber - b.change.blockNumber)
  const isOut = ({ change }: Move) => change.after < change.before
  const entries = sorted.filter((move) => !isOut(move))
  const exits = sorted.filter(isOut).map((exit) => ({ exit, alike: [] as Move[] }))
  let first = 0
  for (const { exit, alike } of exits) {
    const block = exit.change.blockNumber
    while ((entries[first]?.change.blockNumber ?? block) < block) first += 1
    for (let next = first; next < entries.length; next++) {
      const entry = entries[next]
      if (!entry || entry.change.blockNumber > block + loopBlocks) break
      if (isAlike(exit.worth, entry.worth, loopBps)) alike.push(entry)
    }
  }
  // Who puts in again what he took out hands it to nobody: a vault that moves, a wallet that rebalances.
  const own = (exit: Move, alike: readonly Move[]) => alike.filter(({ change }) => change.wallet === exit.change.wallet)
  const kept = new Set(exits.flatMap(({ exit, alike }) => own(exit, alike)))
  return exits.flatMap(({ exit, alike }) => {
    if (own(exit, alike).length > 0) return []
    const others = alike.filter((entry) => !kept.has(entry))
    if (others.length > loopChoices) return []
    return others.map(({ change }): Handover => {
      return { from: exit.change.wallet, to: change.wallet, exit: exit.change, entry: change }
    })
  })
}

export function isAlike(one: bigint, other: bigint, bps: number): boolean {
  const [less, more] = one < other ? [one, other] : [other, one]
  return less > 0n && (more - less) * 10_000n <= more * BigInt(Math.round(bps))
}

/** Numbers wallets so that two have the same number where value went from each to the other (Tarjan's strong components). */
function groupWallets(handovers: readonly Handover[]): ReadonlyMap<string, number> {
  const next = new Map<string, string[]>()
  for (const { from, to } of handovers) next.set(from, [...(next.get(from) ?? []), to])
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
