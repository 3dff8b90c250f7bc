import { formatUnits, parseDecimal, usdDecimals } from '../kernel/amount.js'
import { daySeconds } from '../kernel/clock.js'

/** Something that holds from an instant (unix milliseconds) until the next level. */
export type Level<T> = { atMs: number; value: T }

/** The price of a share at an instant. */
export type PaidLevel = {
  /** The paid price, and that of its snapshot, in units of the asset for 10^exponent shares. */
  numerator: bigint
  full: bigint
  exponent: number
  isGuarded: boolean
  /** US dollars of a whole unit of the asset; null: not known. */
  priceUsd: string | null
}

export type UsdDays = { usdDays: string; unpricedMs: number; unguardedMs: number }

/**
 * USD-days of a position between instants: the integral of shares × paid price × price of the asset over time, exact, with one
 * floor after 18 digits for each stretch between two neighbours of `bounds`, and one for all of it. Levels come in the order of
 * time. `least` is what counts where the price is not guarded: the least of each lot since the snapshot, at the price of the
 * snapshot. `unpricedMs` and `unguardedMs` say how long shares were held without a price, and without a guard. Pure.
 */
export function computeUsdDays(input: {
  shares: readonly Level<bigint>[]
  least: readonly Level<bigint>[]
  prices: readonly Level<PaidLevel>[]
  assetDecimals: number
  bounds: readonly number[]
}): { total: UsdDays; stretches: UsdDays[] } {
  const { shares, least, prices, assetDecimals, bounds } = input
  const [fromMs, toMs] = [bounds[0] ?? 0, bounds.at(-1) ?? 0]
  const instants = [...bounds, ...[shares, least, prices].flatMap((levels) => levels.map(({ atMs }) => atMs))]
  const cuts = [...new Set(instants.filter((at) => at >= fromMs && at <= toMs))].sort((a, b) => a - b)
  const [sharesAt, leastAt, priceAt] = [follow(shares), follow(least), follow(prices)]
  const stretches = bounds.slice(1).map(openSum)
  const readUsd = openUsdReader()
  let stretch = 0
  cuts.slice(0, -1).forEach((at, index) => {
    const ms = (cuts[index + 1] ?? at) - at
    while (at >= (bounds[stretch + 1] ?? Number.POSITIVE_INFINITY)) stretch += 1
    const [held, leastHeld, price] = [sharesAt(at) ?? 0n, leastAt(at) ?? 0n, priceAt(at)]
    const sum = stretches[stretch]
    if (sum && held > 0n) addStretch(sum, { held, least: leastHeld, price, ms, readUsd })
  })
  const total = closeSum(joinSums(stretches), assetDecimals)
  return { total, stretches: stretches.map((sum) => closeSum(sum, assetDecimals)) }
}

/** Exact sums of US dollars × milliseconds by the power of ten they are divided by. */
type Sum = { byScale: Map<number, bigint>; unpricedMs: number; unguardedMs: number }

const openSum = (): Sum => ({ byScale: new Map(), unpricedMs: 0, unguardedMs: 0 })

function addStretch(
  sum: Sum,
  of: { held: bigint; least: bigint; price: PaidLevel | undefined; ms: number; readUsd: (text: string) => Usd },
): void {
  const { held, least, price, ms, readUsd } = of
  if (!price || price.priceUsd === null) {
    sum.unpricedMs += ms
    return
  }
  const { numerator, full, exponent, isGuarded, priceUsd } = price
  if (!isGuarded) sum.unguardedMs += ms
  const { units, scale } = readUsd(priceUsd)
  const value = isGuarded ? held * numerator : least * full
  addScaled(sum, exponent + scale, value * units * BigInt(ms))
}

function addScaled({ byScale }: Sum, scale: number, added: bigint): void {
  byScale.set(scale, (byScale.get(scale) ?? 0n) + added)
}

/** A price as an integer, and the digits it has after the point. */
type Usd = { units: bigint; scale: number }

/** Reads prices, each text once: most stretches have the price of the one before. */
function openUsdReader(): (text: string) => Usd {
  const known = new Map<string, Usd>()
  return (text) => {
    const found = known.get(text)
    if (found) return found
    const scale = text.split('.')[1]?.length ?? 0
    const read = { units: parseDecimal(text, scale), scale }
    known.set(text, read)
    return read
  }
}

function joinSums(sums: readonly Sum[]): Sum {
  const all = openSum()
  for (const { byScale, unpricedMs, unguardedMs } of sums) {
    for (const [scale, part] of byScale) addScaled(all, scale, part)
    all.unpricedMs += unpricedMs
    all.unguardedMs += unguardedMs
  }
  return all
}

function closeSum({ byScale, unpricedMs, unguardedMs }: Sum, assetDecimals: number): UsdDays {
  if (byScale.size === 0) return { usdDays: '0', unpricedMs, unguardedMs }
  const scaleMax = Math.max(0, ...byScale.keys())
  let sum = 0n
  for (const [scale, part] of byScale) sum += part * 10n ** BigInt(scaleMax - scale)
  const divisor = 10n ** BigInt(scaleMax + assetDecimals) * BigInt(daySeconds * 1_000)
  const usdDays = formatUnits((sum * 10n ** BigInt(usdDecimals)) / divisor, usdDecimals)
  return { usdDays, unpricedMs, unguardedMs }
}

/** From `fromMs` on, up to `toMs`, which is not part of it. */
export type Span = { fromMs: number; toMs: number }

/** The same prices, not known in some spans; after each what held then holds again. Both come in the order of time. Pure. */
export function withholdPrices(
  prices: readonly Level<PaidLevel>[],
  spans: readonly Span[],
): readonly Level<PaidLevel>[] {
  if (spans.length === 0) return prices
  const ends = spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]).filter(Number.isFinite)
  const instants = [...new Set([...prices.map(({ atMs }) => atMs), ...ends])].sort((a, b) => a - b)
  const priceAt = follow(prices)
  return instants.flatMap((atMs) => {
    const value = priceAt(atMs)
    if (!value) return []
    const isWithheld = spans.some(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
    return [{ atMs, value: isWithheld ? { ...value, priceUsd: null } : value }]
  })
}

/** The change of one lot. */
export type LotLevel = { atMs: number; key: string; after: bigint }

/**
 * The sum, over all lots, of the least each was since the newest snapshot, after each instant at which it changed. Both lists
 * come in the order of time; a change at the instant of a snapshot is part of it. Pure.
 */
export function computeLeast(changes: readonly LotLevel[], snapshotsMs: readonly number[]): Level<bigint>[] {
  const lots = new Map<string, bigint>()
  const least = new Map<string, bigint>()
  const levels: Level<bigint>[] = []
  let [held, leastSum, next] = [0n, 0n, 0]
  const record = (atMs: number) => {
    if (levels.at(-1)?.atMs === atMs) levels.pop()
    levels.push({ atMs, value: leastSum })
  }
  const reset = (beforeMs: number) => {
    for (let at = snapshotsMs[next]; at !== undefined && at < beforeMs; at = snapshotsMs[next]) {
      least.clear()
      leastSum = held
      record(at)
      next += 1
    }
  }
  for (const { atMs, key, after } of changes) {
    reset(atMs)
    const before = lots.get(key) ?? 0n
    const known = least.get(key) ?? before
    const lower = after < known ? after : known
    least.set(key, lower)
    lots.set(key, after)
    leastSum += lower - known
    held += after - before
    record(atMs)
  }
  reset(Number.POSITIVE_INFINITY)
  return levels
}

/** Returns the level at instants that are asked for in order: one walk along the levels, for any number of instants. */
function follow<T>(levels: readonly Level<T>[]): (atMs: number) => T | undefined {
  let next = 0
  let value: T | undefined
  return (atMs) => {
    for (let step = levels[next]; step && step.atMs <= atMs; step = levels[next]) {
      value = step.value
      next += 1
    }
    return value
  }
}
