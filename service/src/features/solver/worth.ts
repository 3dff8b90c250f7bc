import { parseDecimal, usdDecimals } from '../../kernel/amount.js'

/** The worth of a fill to the owner of its order, to compare with the solver's cost. Pure. */

/** An amount in smallest units, the decimals of its token, and the USD price of a whole token (a decimal text; undefined: unknown). */
export type Priced = { amount: bigint; decimals: number; priceUsd: string | undefined }

/**
 * The worth of a fill, in the smallest unit of the native token: the lesser of the sold and the bought amount, as far as their
 * prices are known. Undefined if no price is known, or the native token has no price.
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
