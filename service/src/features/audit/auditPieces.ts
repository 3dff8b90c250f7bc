import { parseDecimal, usdDecimals } from '../../kernel/amount.js'
import { daySeconds } from '../../kernel/clock.js'

/** A change of a wallet's lot in a vault. */
export type AuditChange = {
  atMs: number
  blockNumber: number
  wallet: string
  before: bigint
  after: bigint
  /** Null where shares moved without an event of the vault. */
  hash: string | null
  sender: string | null
  target: string | null
  /** Of the deposit that brought the shares; null where none is in the ledger. */
  attribution: 'signed' | 'unsigned' | 'legacy' | null
  /** It carries a signature that has counted before. */
  isReplayed: boolean
}

/** The paid price of a share from an instant on. */
export type AuditPrice = {
  atMs: number
  /** In units of the asset for 10^exponent shares. */
  numerator: bigint
  exponent: number
  /** US dollars of a whole unit of the asset; null: not known. */
  priceUsd: string | null
}

/** A vault whose price rose at a snapshot and fell again before the next: a stretch between both. */
export type StagedStretch = { fromMs: number; toMs: number; transactions: readonly string[] }

export type AuditVault = {
  chainId: number
  vault: string
  assetDecimals: number
  /** Shares from which a wallet is an LP. */
  lpFloor: bigint
  prices: readonly AuditPrice[]
  staged: readonly StagedStretch[]
  /** Lots that were held when the month began, by wallet. */
  held: ReadonlyMap<string, bigint>
  /** In the order of the chain. */
  changes: readonly AuditChange[]
}

/** Shares of a wallet from when they came until they left. What came last leaves first. */
export type Piece = {
  of: AuditVault
  wallet: string
  shares: bigint
  fromMs: number
  toMs: number
  /** Undefined: held already when the month began, or still when it ended. */
  entry: AuditChange | undefined
  exit: AuditChange | undefined
}

type Tranche = Pick<Piece, 'shares' | 'fromMs' | 'entry'>

/** The pieces that a month of lots consists of. Their sum at each instant is what was held. Pure. */
export function listPieces(of: AuditVault, { fromMs, toMs }: { fromMs: number; toMs: number }): Piece[] {
  const pieces: Piece[] = []
  const open = new Map<string, Tranche[]>()
  for (const [wallet, shares] of of.held) if (shares > 0n) open.set(wallet, [{ shares, fromMs, entry: undefined }])
  for (const change of of.changes) {
    const { wallet, before, after, atMs } = change
    const own = open.get(wallet) ?? []
    if (after > before) own.push({ shares: after - before, fromMs: atMs, entry: change })
    for (let left = before - after; left > 0n; ) {
      const last = own.pop()
      if (!last) break
      const isSplit = last.shares > left
      const shares = isSplit ? left : last.shares
      pieces.push({ ...last, of, wallet, shares, toMs: atMs, exit: change })
      if (isSplit) own.push({ ...last, shares: last.shares - shares })
      left -= shares
    }
    open.set(wallet, own)
  }
  for (const [wallet, own] of open)
    for (const tranche of own) pieces.push({ ...tranche, of, wallet, toMs, exit: undefined })
  return pieces
}

const one = 10n ** BigInt(usdDecimals)

/** The worth of shares of a vault, in units of 10^-18 dollars: at an instant, and as USD-days between two. Pure. */
export function openWorth({ prices, assetDecimals }: Pick<AuditVault, 'prices' | 'assetDecimals'>) {
  const exponent = prices.reduce((most, price) => Math.max(most, price.exponent), 0)
  // A price has as many digits as it needs: one that follows from a share is a fraction of two others.
  const digits = prices.reduce(
    (most, { priceUsd }) => Math.max(most, priceUsd?.split('.')[1]?.length ?? 0),
    usdDecimals,
  )
  const scale = 10n ** BigInt(exponent + assetDecimals + digits - usdDecimals)
  const rates = prices.map(({ numerator, exponent: own, priceUsd }) =>
    priceUsd === null ? 0n : numerator * 10n ** BigInt(exponent - own) * parseDecimal(priceUsd, digits),
  )
  const sums: bigint[] = []
  prices.forEach(({ atMs }, index) => {
    const before = prices[index - 1]
    sums.push(before ? (sums[index - 1] ?? 0n) + (rates[index - 1] ?? 0n) * BigInt(atMs - before.atMs) : 0n)
  })
  const placeAt = (ms: number) => {
    let [low, high] = [0, prices.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((prices[middle]?.atMs ?? 0) <= ms) low = middle + 1
      else high = middle
    }
    return low - 1
  }
  const sumUpTo = (ms: number): bigint => {
    const place = placeAt(ms)
    const price = prices[place]
    return price ? (sums[place] ?? 0n) + (rates[place] ?? 0n) * BigInt(ms - price.atMs) : 0n
  }
  const dayMs = BigInt(daySeconds) * 1_000n
  return {
    at: (shares: bigint, ms: number): bigint => (shares * (rates[placeAt(ms)] ?? 0n)) / scale,
    usdDays: (shares: bigint, fromMs: number, toMs: number): bigint =>
      toMs > fromMs ? (shares * (sumUpTo(toMs) - sumUpTo(fromMs))) / (scale * dayMs) : 0n,
  }
}
export type Worth = ReturnType<typeof openWorth>

export const usdToUnits = (usd: number): bigint => (BigInt(Math.round(usd * 1e6)) * one) / 1_000_000n
