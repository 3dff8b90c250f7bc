import { parseDecimal, usdDecimals } from '../kernel/amount.js'
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

/** US dollars × seconds, exact: units of 10^-decimals. */
export type UsdSeconds = { units: bigint; decimals: number }

/** US dollars × days in units of 10^-18. */
export type UsdDays = { usdDays: bigint; unpricedMs: number; unguardedMs: number }

/** The levels a position is counted by, in the order of time. */
export type Counted = {
  shares: readonly Level<bigint>[]
  /** The shares that count where the price is not guarded: the least of each lot since the snapshot, at its price. */
  least: readonly Level<bigint>[]
  prices: readonly Level<PaidLevel>[]
  /** Stretches lie between two neighbours, in unix milliseconds. */
  bounds: readonly number[]
}

/**
 * USD-days of a position between instants: the integral of shares × paid price × price of the asset over time, exact, with one
 * floor after 18 digits for each stretch between two neighbours of `bounds`, and one for all of it. `unpricedMs` and
 * `unguardedMs` say how long shares were held without a price, and without a guard. `usdSeconds` is the whole before it is cut.
 * Pure.
 */
export function computeUsdDays({ assetDecimals, ...counted }: Counted & { assetDecimals: number }): {
  total: UsdDays
  stretches: UsdDays[]
  usdSeconds: UsdSeconds
} {
  const [total, cut] = [openSum(), openCut(assetDecimals)]
  const stretches = sumUsdDays(counted).map((sum) => {
    joinSum(total, sum)
    return cut(sum)
  })
  const usdSeconds = { units: total.value, decimals: total.scale + assetDecimals + millisecondDigits }
  return { total: cut(total), stretches, usdSeconds }
}

/** The same stretches as exact sums. Pure. */
export function sumUsdDays({ shares, least, prices, bounds }: Counted): UsdSum[] {
  const lines = [openLine(shares), openLine(least), openLine(prices)] as const
  const readWorth = openWorthReader()
  return bounds.slice(1).map((end, index) => {
    const sum = openSum()
    addStretch(sum, { lines, fromMs: bounds[index] ?? end, toMs: end, readWorth })
    return sum
  })
}

/** A second has a thousand milliseconds. */
const millisecondDigits = 3

/** An exact sum of US dollars × milliseconds × 10^decimals of the asset, divided by 10^scale. */
export type UsdSum = { value: bigint; scale: number; unpricedMs: number; unguardedMs: number }

export const openSum = (): UsdSum => ({ value: 0n, scale: 0, unpricedMs: 0, unguardedMs: 0 })

type Lines = readonly [Line<bigint>, Line<bigint>, Line<PaidLevel>]

/** Adds what counts between two instants, piece by piece: in a piece neither shares nor prices change. */
function addStretch(
  sum: UsdSum,
  { lines, fromMs, toMs, readWorth }: { lines: Lines; fromMs: number; toMs: number; readWorth: WorthReader },
): void {
  const [shares, least, prices] = lines
  for (let at = fromMs; at < toMs; ) {
    const [held, leastHeld, price] = [shares.go(at) ?? 0n, least.go(at) ?? 0n, prices.go(at)]
    const end = Math.min(toMs, shares.nextMs(), least.nextMs(), prices.nextMs())
    if (held > 0n) addPiece(sum, { held, leastHeld, worth: price && readWorth(price), ms: end - at })
    at = end
  }
}

function addPiece(
  sum: UsdSum,
  { held, leastHeld, worth, ms }: { held: bigint; leastHeld: bigint; worth: Worth | undefined; ms: number },
): void {
  if (!worth) {
    sum.unpricedMs += ms
    return
  }
  if (!worth.isGuarded) sum.unguardedMs += ms
  addScaled(sum, worth.scale, (worth.isGuarded ? held : leastHeld) * worth.units * BigInt(ms))
}

function addScaled(sum: UsdSum, scale: number, value: bigint): void {
  if (scale > sum.scale) {
    sum.value *= 10n ** BigInt(scale - sum.scale)
    sum.scale = scale
  }
  sum.value += scale === sum.scale ? value : value * 10n ** BigInt(sum.scale - scale)
}

/** Adds a sum to another. */
export function joinSum(all: UsdSum, { value, scale, unpricedMs, unguardedMs }: UsdSum): void {
  addScaled(all, scale, value)
  all.unpricedMs += unpricedMs
  all.unguardedMs += unguardedMs
}

/** The integer of a sum at a scale that is not smaller than its own. Pure. */
export const scaleSum = ({ value, scale }: Pick<UsdSum, 'value' | 'scale'>, to: number): bigint =>
  value * 10n ** BigInt(to - scale)

/** The US dollars of a share that counts, as an integer divided by 10^scale. */
type Worth = { units: bigint; scale: number; isGuarded: boolean }
type WorthReader = (price: PaidLevel) => Worth | undefined

/** Reads what a share counts for, each level once and each text of a price once; undefined: no price is known. */
function openWorthReader(): WorthReader {
  const known = new Map<string, { units: bigint; scale: number }>()
  const readUsd = (text: string) => {
    const scale = text.split('.')[1]?.length ?? 0
    const read = { units: parseDecimal(text, scale), scale }
    known.set(text, read)
    return read
  }
  let [last, worth]: [PaidLevel | undefined, Worth | undefined] = [undefined, undefined]
  return (price) => {
    if (price === last) return worth
    const { numerator, full, exponent, isGuarded, priceUsd } = price
    last = price
    const usd = priceUsd === null ? undefined : (known.get(priceUsd) ?? readUsd(priceUsd))
    worth = usd && { units: (isGuarded ? numerator : full) * usd.units, scale: exponent + usd.scale, isGuarded }
    return worth
  }
}

/** Cuts sums, each once. */
export function openCut(assetDecimals: number): (sum: UsdSum) => UsdDays {
  const divide = openDivision(assetDecimals)
  return ({ value, scale, unpricedMs, unguardedMs }) => ({ usdDays: divide(value, scale), unpricedMs, unguardedMs })
}

/**
 * Divides integers of US dollars × milliseconds × 10^assetDecimals at a scale into units of 10^-18 US dollars × days, cut. Each
 * power of ten is made once.
 */
export function openDivision(assetDecimals: number): (value: bigint, scale: number) => bigint {
  const parts = new Map<number, { factor: bigint; divisor: bigint }>()
  const makeParts = (scale: number) => {
    // Powers of ten that factor and divisor share are left out of both.
    const digits = scale + assetDecimals - usdDecimals
    const made = {
      factor: 10n ** BigInt(Math.max(0, -digits)),
      divisor: 10n ** BigInt(Math.max(0, digits)) * BigInt(daySeconds * 1_000),
    }
    parts.set(scale, made)
    return made
  }
  return (value, scale) => {
    const { factor, divisor } = parts.get(scale) ?? makeParts(scale)
    return (factor === 1n ? value : value * factor) / divisor
  }
}

/** The same USD-days by the exact sum: whole units of 10^-18, cut once. Pure. */
export const cutUsdDays = ({ units, decimals }: UsdSeconds): bigint =>
  (units * 10n ** BigInt(usdDecimals)) / (10n ** BigInt(decimals) * BigInt(daySeconds))

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
  const priceAt = openLine(prices).go
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

/** Levels that are walked along once, for any number of instants that are asked for in order. */
type Line<T> = { go(atMs: number): T | undefined; nextMs(): number }

function openLine<T>(levels: readonly Level<T>[]): Line<T> {
  let next = 0
  let value: T | undefined
  const nextMs = () => levels[next]?.atMs ?? Number.POSITIVE_INFINITY
  const go = (atMs: number) => {
    for (; nextMs() <= atMs; next += 1) value = levels[next]?.value
    return value
  }
  return { go, nextMs }
}
