/** The maximum price of a unit of gas, in the smallest unit of the native token (EIP-1559). */
export type Fees = { maxFee: bigint; tip: bigint }

/** Present fees of a chain: the base fee of its next block, and the tip that others pay. */
export type FeeLevel = { baseFee: bigint; tip: bigint }

/**
 * The maximum price of a unit of gas for a transaction with a cap: the cap less value and posting cost, divided by its gas.
 * Zero if the cap is used up. Pure.
 */
export function computePriceMax(
  { costMax, value }: { costMax: bigint; value: bigint },
  { gasLimit, posting }: { gasLimit: bigint; posting: bigint },
): bigint {
  const left = costMax - value - posting
  return left > 0n ? left / gasLimit : 0n
}

/**
 * Fees with room for the base fee to double, which takes six full blocks; less where the cap is lower. Undefined where the
 * present price is above the cap: then it is better to wait. Pure.
 */
export function decideFees({ baseFee, tip }: FeeLevel, gasPriceMax: bigint): Fees | undefined {
  if (baseFee + tip > gasPriceMax) return undefined
  return { maxFee: smaller(2n * baseFee + tip, gasPriceMax), tip }
}

/**
 * Fees that take the place of earlier ones of the same nonce: nodes want a tenth more of both, at least. Undefined where
 * that is above the cap. Pure.
 */
export function raiseFees(last: Fees, level: FeeLevel, gasPriceMax: bigint): Fees | undefined {
  const least = { maxFee: raise(last.maxFee), tip: raise(last.tip) }
  const present = decideFees(level, gasPriceMax)
  const raised = {
    maxFee: larger(least.maxFee, present?.maxFee ?? 0n),
    tip: larger(least.tip, present?.tip ?? 0n),
  }
  return raised.maxFee > gasPriceMax ? undefined : raised
}

/** An eighth more, rounded up. */
function raise(fee: bigint): bigint {
  return fee + (fee + 7n) / 8n
}

export const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)
