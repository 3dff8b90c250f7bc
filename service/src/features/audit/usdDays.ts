import { computeUsd, formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import { daySeconds } from '../../kernel/clock.js'

/** Something that holds from an instant (unix milliseconds) until the next level. */
export type Level<T> = { atMs: number; value: T }

export type SharePrice = { numerator: bigint; exponent: number; priceUsd: string | null }

/**
 * The integral of a position's USD value over time, in USD-days: shares × share price × price, each as last known at every
 * moment, from `fromMs` to `toMs`. Levels come in the order of time. `unpricedMs` is how long shares were held while a
 * price was missing; that time adds 0.
 */
export function computeUsdDays(input: {
  shares: readonly Level<bigint>[]
  prices: readonly Level<SharePrice>[]
  assetDecimals: number
  fromMs: number
  toMs: number
}): { usdDays: string; unpricedMs: number } {
  const { shares, prices, assetDecimals, fromMs, toMs } = input
  const instants = [fromMs, ...shares.map(({ atMs }) => atMs), ...prices.map(({ atMs }) => atMs), toMs]
  const cuts = [...new Set(instants.filter((at) => at >= fromMs && at <= toMs))].sort((a, b) => a - b)
  const [sharesAt, priceAt] = [follow(shares), follow(prices)]
  let sum = 0n
  let unpricedMs = 0
  cuts.slice(0, -1).forEach((at, index) => {
    const until = cuts[index + 1] ?? at
    const held = sharesAt(at) ?? 0n
    const price = priceAt(at)
    if (held === 0n) return
    if (!price || price.priceUsd === null) {
      unpricedMs += until - at
      return
    }
    const assets = (held * price.numerator) / 10n ** BigInt(price.exponent)
    const usd = parseDecimal(computeUsd(assets, assetDecimals, price.priceUsd), usdDecimals)
    sum += usd * BigInt(until - at)
  })
  return { usdDays: formatUnits(sum / BigInt(daySeconds * 1_000), usdDecimals), unpricedMs }
}

/** Returns the level at instants that are requested in order: one walk along the levels, for any number of instants. */
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
