import { parseDecimal, usdDecimals } from '../../kernel/amount.js'

/** What a fill is worth to the owner of its order, against what it costs the solver. Pure. */

/** Smallest units of a token with so many decimals, one of which is so many USD (a decimal text); undefined: not known. */
export type Priced = { amount: bigint; decimals: number; priceUsd: string | undefined }

/**
 * What a fill is worth, in the smallest unit of the native token: the lesser of what is sold and what is bought, as far as
 * their prices are known. Undefined where neither is, or the native token has no price.
 */
export function computeWorth(sold: Priced, bought: Priced, native: Omit<Priced, 'amount'>): bigint | undefined {
  const unit = native.priceUsd === undefined ? 0n : parseDecimal(native.priceUsd, usdDecimals)
  if (unit === 0n) return undefined
  const worths = [sold, bought].flatMap(({ amount, decimals, priceUsd }) => {
    if (priceUsd === undefined) return []
    const usd = amount * parseDecimal(priceUsd, usdDecimals)
    return [(usd * 10n ** BigInt(native.decimals)) / (unit * 10n ** BigInt(decimals))]
  })
  return worths.reduce<bigint | undefined>(
    (least, each) => (least === undefined || each < least ? each : least),
    undefined,
  )
}
