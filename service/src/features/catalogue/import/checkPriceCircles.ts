import { chainKey } from '../records.js'

/** A vault by the price that its share follows from. Addresses lower-case. */
export type PricedShare = { chainId: number; receiptToken: string; asset: string }

/**
 * Reports vaults whose share would be priced by itself: its asset is the share of a vault whose asset is a share, and so on, back to
 * the first. `known` are the vaults of the database, which those of the file replace. Pure.
 */
export function checkPriceCircles(
  known: readonly PricedShare[],
  written: readonly (PricedShare & { pointer: string })[],
  report: (pointer: string, message: string) => void,
): void {
  const assets = new Map([...known, ...written].map((each) => [chainKey(each.chainId, each.receiptToken), each]))
  for (const { pointer, ...first } of written) {
    // A plain token is its own asset, at a price of 1.
    if (first.asset === first.receiptToken) continue
    const path = [first.receiptToken]
    let next: PricedShare | undefined = first
    while (next && next.asset !== next.receiptToken) {
      path.push(next.asset)
      if (next.asset === first.receiptToken) {
        report(
          pointer,
          `the price of the share would follow from itself: ${path.join(' ← ')}; name the asset that the vault takes, or leave one of these vaults out`,
        )
        break
      }
      // A circle further down is reported at the vaults that it consists of.
      if (path.length > assets.size + 1) break
      next = assets.get(chainKey(next.chainId, next.asset))
    }
  }
}
