import type { Adapter, Holding } from './types.js'

const wholeBps = 10_000n

/** How adapters weigh holdings. */
export type Weigher = {
  /** The weight of one share without a boost. */
  unit: bigint
  /** Distributors whose lots are told apart. */
  distributors: ReadonlySet<string>
  /** Linear in shares, above and below the balance an adapter may ask for. */
  weigh(wallet: string, holding: Holding): bigint
}

type Boost = Extract<Adapter, { type: 'boost' }>

/**
 * Joins adapters. Each of them either takes a wallet out or multiplies, so their order changes nothing; `min-balance`
 * looks at shares, not at what they weigh.
 */
export function createWeigher(adapters: readonly Adapter[]): Weigher {
  const admits: ((wallet: string, shares: bigint) => boolean)[] = []
  const boosts: ReturnType<typeof toBoost>[] = []
  for (const adapter of adapters) {
    if (adapter.type === 'boost') boosts.push(toBoost(adapter))
    else if (adapter.type === 'min-balance') admits.push((_wallet, shares) => shares >= adapter.shares)
    else {
      const wallets = new Set(adapter.wallets)
      const isListed = adapter.type === 'allowlist'
      admits.push((wallet) => wallets.has(wallet) === isListed)
    }
  }
  const distributors = new Set(boosts.flatMap(({ distributorIds }) => [...(distributorIds ?? [])]))
  const multiply = (wallet: string, shares: bigint, distributorId?: string): bigint => {
    let weight = shares
    for (const boost of boosts) weight *= boost.multiplier(wallet, distributorId)
    return weight
  }
  return {
    unit: wholeBps ** BigInt(boosts.length),
    distributors,
    weigh: (wallet, { shares, lots }) => {
      if (shares <= 0n) return 0n
      for (const isAdmitted of admits) if (!isAdmitted(wallet, shares)) return 0n
      let rest = shares
      let weight = 0n
      for (const [distributorId, lot] of lots) {
        if (lot > rest) break
        weight += multiply(wallet, lot, distributorId)
        rest -= lot
      }
      return weight + multiply(wallet, rest)
    },
  }
}

function toBoost({ multiplierBps, wallets, distributorIds }: Boost) {
  const own = wallets && new Set(wallets)
  const of = distributorIds && new Set(distributorIds)
  const multiplier = BigInt(multiplierBps)
  return {
    distributorIds: of,
    multiplier: (wallet: string, distributorId?: string): bigint => {
      if (own && !own.has(wallet)) return wholeBps
      if (of && (distributorId === undefined || !of.has(distributorId))) return wholeBps
      return multiplier
    },
  }
}
