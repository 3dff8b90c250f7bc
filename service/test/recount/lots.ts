/** What one wallet holds of one vault: shares, and the part of each distributor. The rest is unattributed. */
export type Holding = { shares: bigint; lots: Map<string, bigint> }

export const attributedOf = ({ lots }: Pick<Holding, 'lots'>): bigint =>
  [...lots.values()].reduce((sum, lot) => sum + lot, 0n)

type Named = { name: string | null; amount: bigint }

/** By name, in the order of bytes; what has no name last. */
export const byName = (a: string | null, b: string | null): number =>
  a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1

/**
 * SEMANTICS §3: `total` split in proportion to the amounts: each gets floor(amount × total / sum); the units left over go
 * one each to those with the largest fraction (ties: the larger amount, then the lowest name, no name last).
 */
export function splitByFraction<T extends Named>(list: readonly T[], total: bigint): Map<T, bigint> {
  const sum = list.reduce((all, { amount }) => all + amount, 0n)
  if (sum === 0n) return new Map(list.map((each) => [each, 0n]))
  const parts = new Map<T, bigint>(list.map((each) => [each, (each.amount * total) / sum]))
  let left = total - [...parts.values()].reduce((all, part) => all + part, 0n)
  const order = list.toSorted((a, b) => {
    const [first, second] = [(a.amount * total) % sum, (b.amount * total) % sum]
    if (first !== second) return first > second ? -1 : 1
    if (a.amount !== b.amount) return a.amount > b.amount ? -1 : 1
    return byName(a.name, b.name)
  })
  for (const each of order) {
    if (left === 0n) break
    parts.set(each, parts.get(each)! + 1n)
    left -= 1n
  }
  return parts
}

/** Takes shares from all lots of a holding in proportion, and tells what it took of each. */
export function takeShares(holding: Holding, out: bigint): Map<string | null, bigint> {
  const list: Named[] = [...holding.lots].map(([name, amount]) => ({ name, amount }))
  list.push({ name: null, amount: holding.shares - attributedOf(holding) })
  const taken = new Map<string | null, bigint>()
  for (const [{ name, amount }, part] of splitByFraction(list, out)) {
    if (part === 0n) continue
    taken.set(name, part)
    if (name !== null) holding.lots.set(name, amount - part)
  }
  holding.shares -= out
  return taken
}

export function addShares(holding: Holding, name: string | null, amount: bigint): void {
  holding.shares += amount
  if (name !== null) holding.lots.set(name, (holding.lots.get(name) ?? 0n) + amount)
}
