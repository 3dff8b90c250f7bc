/**
 * The shares of a wallet in a vault. `lots` are the parts that distributors brought; the rest is unattributed. Always
 * 0 ≤ sum of lots ≤ shares.
 */
export type Holder = {
  shares: bigint
  lots: Map<string, bigint>
  attributed: bigint
}

/** A wallet that never held anything. */
export function emptyHolder(): Holder {
  return { shares: 0n, lots: new Map(), attributed: 0n }
}

/**
 * Splits `amount` by weights: each part gets floor(weight × amount / total), and the units left over go one each to the
 * parts with the largest fraction; ties go to the larger weight, then to the earlier part. No part exceeds its weight
 * while `amount` ≤ the sum of weights.
 */
export function splitProportionally(amount: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  if (total === 0n) return weights.map(() => 0n)
  const parts = weights.map((weight) => (weight * amount) / total)
  let left = amount - parts.reduce((sum, part) => sum + part, 0n)
  if (left === 0n) return parts
  const order = weights.map((weight, index) => ({ index, weight, fraction: (weight * amount) % total }))
  order.sort((a, b) => compare(b.fraction, a.fraction) || compare(b.weight, a.weight) || a.index - b.index)
  for (const { index } of order) {
    if (left === 0n) break
    parts[index] = (parts[index] ?? 0n) + 1n
    left -= 1n
  }
  return parts
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Adds shares to a wallet, to the lot of a distributor or to the unattributed part (null). */
export function addShares(holder: Holder, amount: bigint, distributorId: string | null): void {
  if (amount === 0n) return
  holder.shares += amount
  if (distributorId === null) return
  holder.attributed += amount
  holder.lots.set(distributorId, (holder.lots.get(distributorId) ?? 0n) + amount)
}

/**
 * Takes shares from all lots in proportion (ties: larger lot, then lowest distributor id, unattributed last). If the amount exceeds
 * the balance, it takes everything. Returns the taken amount.
 */
export function takeProportionally(holder: Holder, amount: bigint): bigint {
  const taken = smaller(amount, holder.shares)
  if (taken <= 0n) return 0n
  if (holder.attributed === 0n) {
    holder.shares -= taken
    return taken
  }
  const ids = [...holder.lots.keys()].filter((id) => holder.lots.get(id) !== 0n).sort(compareCodes)
  const weights = ids.map((id) => holder.lots.get(id) ?? 0n)
  const parts = splitProportionally(taken, [...weights, holder.shares - holder.attributed])
  ids.forEach((id, index) => {
    const part = parts[index] ?? 0n
    holder.lots.set(id, (weights[index] ?? 0n) - part)
    holder.attributed -= part
  })
  holder.shares -= taken
  return taken
}

/** Takes shares from one lot, or from the unattributed part (null); at most what is in it. Returns the taken amount. */
export function takeFrom(holder: Holder, amount: bigint, distributorId: string | null): bigint {
  const had = distributorId === null ? holder.shares - holder.attributed : (holder.lots.get(distributorId) ?? 0n)
  const taken = smaller(amount, had)
  holder.shares -= taken
  if (distributorId === null) return taken
  holder.lots.set(distributorId, had - taken)
  holder.attributed -= taken
  return taken
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** Order of distributor ids: byte for byte. */
export function compareCodes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
