import { formatUnits } from '../../kernel/amount.js'
import type { Fraction, Strategy } from './types.js'

/** The scale of the accumulator: one smallest unit of the reward, for one share held for one day. */
export const accumulatorScale = 10n ** 36n
export const daySeconds = 86_400n
const yearDays = 365n
const aprScale = 10n ** 18n

/** Prices as last known. */
export type Prices = { share?: Fraction | undefined; reward?: Fraction | undefined }

/** The total weight, and the weight of a share without a boost. */
export type Weights = { total: bigint; unit: bigint }

/**
 * Units per share and day, scaled by `accumulatorScale` and cut. It holds until a price or, for type 3, a weight changes,
 * so what accrues meanwhile is a product of integers, and no instant in between makes a difference. Undefined: no price.
 */
export function computeRate(strategy: Strategy, { share, reward }: Prices, weights: Weights): bigint | undefined {
  if (strategy.type === 3)
    return weights.total === 0n ? 0n : (accumulatorScale * strategy.tokensPerDay * weights.unit) / weights.total
  if (!share) return undefined
  if (strategy.type === 1)
    return (accumulatorScale * strategy.tokensPerUsd * share.numerator) / (share.denominator * 1_000n)
  if (!reward || reward.numerator === 0n) return undefined
  return (
    (accumulatorScale * strategy.aprE18 * share.numerator * reward.denominator) /
    (share.denominator * aprScale * yearDays * reward.numerator)
  )
}

/**
 * Fraction of their value that `shares` earn a year where they weigh `weight` of `total`; null: a price is missing, or
 * nothing is held.
 */
export function computeApr(
  strategy: Strategy,
  { share, reward }: Prices,
  { shares, weight, total, unit }: { shares: bigint; weight: bigint } & Weights,
): string | null {
  if (shares === 0n) return null
  if (strategy.type === 2) return share && reward ? divide(strategy.aprE18 * weight, aprScale * shares * unit) : null
  if (!reward) return null
  if (strategy.type === 1) {
    const yearly = strategy.tokensPerUsd * yearDays * reward.numerator
    return divide(yearly * weight, reward.denominator * 1_000n * shares * unit)
  }
  if (!share || share.numerator === 0n || total === 0n) return weight === 0n && share ? '0' : null
  const yearly = strategy.tokensPerDay * yearDays * reward.numerator * share.denominator
  return divide(yearly * weight, reward.denominator * share.numerator * shares * total)
}

/** USD of an amount in smallest units; null: no price. */
export function computeValue(units: bigint, price: Fraction | undefined): string | null {
  return price ? divide(units * price.numerator, price.denominator) : null
}

/** A quotient as a plain decimal, cut after 18 digits. */
export function divide(numerator: bigint, denominator: bigint): string {
  return formatUnits((numerator * aprScale) / denominator, 18)
}
