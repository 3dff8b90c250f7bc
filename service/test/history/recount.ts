/**
 * The history of a vault counted again from docs/methodology.md, as plainly as it can be: every bucket looks through every
 * snapshot. It shares nothing with the service.
 */

export type PlainSnapshot = {
  at: number
  block: number
  assets: bigint
  supply: bigint
  price: bigint
  exponent: number
  /** US dollars of a base asset, as a decimal text. */
  usd: string | null
}

export type PlainVault = {
  snapshots: readonly PlainSnapshot[]
  assetDecimals: number
  receiptDecimals: number
  dustFloor: bigint
  source: 'share-price' | 'nav'
  pauses: readonly { from: number; to: number }[]
}

export type PlainQuery = { startMs: number; endMs: number; step: number; apyInterval: number }

export type PlainRate = { from: PlainSnapshot; to: PlainSnapshot; rate: number; unrounded: number }

const year = 31_536_000

function scaledUsd(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0').slice(0, 18))
}

const stamp = (at: number) => new Date(at * 1000).toISOString().replace('.000Z', 'Z')

function bucketsOf({ startMs, endMs, step }: PlainQuery): number[] {
  const buckets: number[] = []
  for (let bucket = Math.floor(startMs / 1000 / step); bucket * step * 1000 <= endMs; bucket++) buckets.push(bucket)
  return buckets
}

function lastWhere(vault: PlainVault, fits: (snapshot: PlainSnapshot) => boolean): PlainSnapshot | undefined {
  let found: PlainSnapshot | undefined
  for (const snapshot of vault.snapshots) if (fits(snapshot) && (!found || snapshot.at > found.at)) found = snapshot
  return found
}

const isIn = (snapshot: PlainSnapshot, bucket: number, query: PlainQuery) =>
  snapshot.at * 1000 >= query.startMs &&
  snapshot.at * 1000 <= query.endMs &&
  snapshot.at >= bucket * query.step &&
  snapshot.at < (bucket + 1) * query.step

function isReading(vault: PlainVault, snapshot: PlainSnapshot, source: PlainVault['source']): boolean {
  if (snapshot.supply < vault.dustFloor) return false
  if (source === 'nav' && snapshot.usd === null) return false
  return !vault.pauses.some(({ from, to }) => from <= snapshot.at && snapshot.at < to)
}

/** Numerator over 10^exponent, made comparable by the larger exponent of the two. */
function figures(from: PlainSnapshot, to: PlainSnapshot, source: PlainVault['source']): [bigint, bigint] {
  const most = Math.max(from.exponent, to.exponent)
  const figure = ({ price, exponent, usd }: PlainSnapshot) =>
    price * 10n ** BigInt(most - exponent) * (source === 'nav' ? scaledUsd(usd ?? '0') : 1n)
  return [figure(from), figure(to)]
}

/** The rate of a bucket; undefined where there is none. */
export function plainRate(
  vault: PlainVault,
  query: PlainQuery,
  bucket: number,
  kind: 'apr' | 'apy',
): PlainRate | undefined {
  const source = kind === 'apr' ? 'share-price' : vault.source
  const to = lastWhere(vault, (each) => isIn(each, bucket, query) && isReading(vault, each, source))
  const from = to && lastWhere(vault, (each) => each.at <= to.at - query.apyInterval && isReading(vault, each, source))
  if (!from || !to) return undefined
  const [p0, p1] = figures(from, to, source)
  if (p0 === 0n) return undefined
  const x = Number(((p1 - p0) * 10n ** 30n) / p0) / 1e30
  const interval = to.at - from.at
  const unrounded = kind === 'apr' ? ((x * year) / interval) * 100 : Math.expm1((Math.log1p(x) * year) / interval) * 100
  if (!Number.isFinite(unrounded)) return undefined
  return { from, to, rate: Number(unrounded.toPrecision(12)), unrounded }
}

/** The points of APR or APY as they are served. */
export function plainRates(vault: PlainVault, query: PlainQuery, kind: 'apr' | 'apy'): object[] {
  return bucketsOf(query).flatMap((bucket) => {
    const found = plainRate(vault, query, bucket, kind)
    if (!found) return []
    const { from, to, rate } = found
    return [
      {
        timestamp: stamp(to.at),
        blockNumber: to.block,
        [kind]: { base: rate, reward: 0, total: rate },
        effectiveIntervalSeconds: to.at - from.at,
      },
    ]
  })
}

function value(raw: bigint, decimals: number, usd: string | null): object {
  const native = Number(`${raw}e-${decimals}`)
  if (usd === null) return { native, usd: null }
  const cut = (raw * scaledUsd(usd)) / 10n ** BigInt(decimals)
  return { native, usd: Number(`${cut}e-18`) }
}

/** The points of the base history as they are served. */
export function plainBase(vault: PlainVault, query: PlainQuery): object[] {
  const { assetDecimals, receiptDecimals } = vault
  return bucketsOf(query).flatMap((bucket) => {
    const last = lastWhere(vault, (each) => isIn(each, bucket, query))
    if (!last) return []
    const apy = plainRate(vault, query, bucket, 'apy')
    return [
      {
        timestamp: stamp(last.at),
        blockNumber: last.block,
        tvl: value(last.assets, assetDecimals, last.usd),
        sharePrice: value(last.price, assetDecimals + last.exponent - receiptDecimals, last.usd),
        apy: apy ? { base: apy.rate, reward: 0, total: apy.rate } : null,
      },
    ]
  })
}

/** Digits of fixed-point decimals. */
const one = 10n ** 60n

function logOf(value: bigint): bigint {
  // Halved or doubled until it is near 1; ln v = 2 atanh((v − 1) / (v + 1)).
  let [near, halvings] = [value, 0n]
  for (; near > 2n * one; halvings++) near /= 2n
  for (; near < one / 2n; halvings--) near *= 2n
  const atanh = (t: bigint) => {
    let [sum, power] = [0n, t]
    for (let n = 1n; power !== 0n; n += 2n, power = (((power * t) / one) * t) / one) sum += power / n
    return 2n * sum
  }
  const own = atanh(((near - one) * one) / (near + one))
  return halvings === 0n ? own : own + halvings * atanh(one / 3n)
}

function expOf(value: bigint): bigint {
  let [sum, term] = [0n, one]
  const small = value / 1_024n
  for (let n = 1n; term !== 0n; n++) {
    sum += term
    term = (term * small) / (one * n)
  }
  for (let squared = 0; squared < 10; squared++) sum = (sum * sum) / one
  return sum
}

/** A rate in percent, scaled by 10^60, by decimal arithmetic alone. */
export function exactRate(p0: bigint, p1: bigint, interval: number, kind: 'apr' | 'apy'): bigint {
  if (kind === 'apr') return ((p1 - p0) * one * BigInt(year) * 100n) / (p0 * BigInt(interval))
  if (p1 === 0n) return -100n * one
  return (expOf((logOf((p1 * one) / p0) * BigInt(year)) / BigInt(interval)) - one) * 100n
}

/** How far a float is from an exact value, relative to it. */
export function relativeError(value: number, exact: bigint): number {
  if (exact === 0n) return Math.abs(value)
  const digits = BigInt(Math.round(Math.abs(value) === 0 ? 0 : Math.log10(Math.abs(value))))
  const scale = 10n ** (45n - digits > 0n ? 45n - digits : 0n)
  // A float as a fraction of a power of two, exactly.
  let [mantissa, shift] = [value, 0n]
  for (; !Number.isInteger(mantissa); shift++) mantissa *= 2
  const difference = (BigInt(mantissa) * one * scale) / 2n ** shift - exact * scale
  return Math.abs(Number((difference * 10n ** 30n) / (exact * scale)) / 1e30)
}

export { figures as plainFigures }
