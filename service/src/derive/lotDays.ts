import { computeUsdDays, type Level, type LotLevel, type PaidLevel, type UsdSeconds } from './usdDays.js'

/** The USD-seconds of a lot between two instants. */
export type LotDay = {
  key: string
  /** Shares × seconds, whether or not a price was known. */
  shareSeconds: bigint
  usdSeconds: UsdSeconds
  unpricedMs: number
  unguardedMs: number
}

/**
 * The USD-seconds of each lot between two instants: `held` at the first, then as `changes` say, which come in the order of time.
 * `least` are the levels of what counts of a lot where no price guards it; undefined where every price does. The USD-seconds
 * of lots add up to those of their sum, exactly. Lots that never held anything are left out. Pure.
 */
export function computeLotDays(input: {
  held: ReadonlyMap<string, bigint>
  changes: readonly LotLevel[]
  least: ReadonlyMap<string, readonly Level<bigint>[]> | undefined
  prices: readonly Level<PaidLevel>[]
  assetDecimals: number
  fromMs: number
  toMs: number
}): LotDay[] {
  const { held, changes, least, prices, assetDecimals, fromMs, toMs } = input
  const count = (shares: readonly Level<bigint>[], leastShares: readonly Level<bigint>[]) =>
    computeUsdDays({ shares, least: leastShares, prices, assetDecimals, bounds: [fromMs, toMs] })
  const moved = new Map<string, Level<bigint>[]>()
  for (const { key, atMs, after } of changes) {
    const own = moved.get(key) ?? [{ atMs: fromMs, value: held.get(key) ?? 0n }]
    own.push({ atMs, value: after })
    moved.set(key, own)
  }
  const seconds = BigInt(toMs - fromMs) / 1_000n
  const one = count([{ atMs: fromMs, value: 1n }], [])
  const days: LotDay[] = []
  for (const key of new Set([...held.keys(), ...moved.keys()])) {
    const own = moved.get(key)
    const shares = held.get(key) ?? 0n
    if (!own && !least) {
      // Of a lot that stays as it is every share comes to the same.
      const { units, decimals } = one.usdSeconds
      const { unpricedMs, unguardedMs } = one.total
      const usdSeconds = { units: units * shares, decimals }
      if (shares > 0n) days.push({ key, shareSeconds: shares * seconds, usdSeconds, unpricedMs, unguardedMs })
      continue
    }
    const levels = own ?? [{ atMs: fromMs, value: shares }]
    const shareSeconds = sumShareSeconds(levels, toMs)
    if (shareSeconds === 0n) continue
    const { total, usdSeconds } = count(levels, least?.get(key) ?? [])
    const { unpricedMs, unguardedMs } = total
    days.push({ key, shareSeconds, usdSeconds, unpricedMs, unguardedMs })
  }
  return days
}

function sumShareSeconds(levels: readonly Level<bigint>[], toMs: number): bigint {
  const sum = levels.reduce((all, { atMs, value }, index) => {
    const end = levels[index + 1]?.atMs ?? toMs
    return all + value * BigInt(end - atMs)
  }, 0n)
  return sum / 1_000n
}
