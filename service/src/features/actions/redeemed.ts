/** One part in 10,000 of a redemption is not swapped: a vault may round, or pay a little less a block later. */
const keptBackOf = 10_000n

/** The part of a redemption that is swapped. */
export function keepBack(assets: bigint): bigint {
  return (assets * (keptBackOf - 1n)) / keptBackOf
}

/**
 * Whether the quote that was asked for while the redemption was still simulated is used: it is of no more than is sure, and
 * of so little less that to ask again is not worth a round trip.
 */
export function isAsExpected(expected: bigint, sure: bigint): boolean {
  return expected > 0n && expected <= sure && sure - expected <= sure / keptBackOf
}
