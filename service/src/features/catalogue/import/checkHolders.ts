import type { HolderSetting } from '../../../vaults/configured/index.js'
import { findHolderKind } from '../../../vaults/holders/index.js'
import { chainKey } from '../records.js'

/** A holder as it is declared for a vault, with its place in the file. Addresses lower-case. */
export type DeclaredAt = { chainId: number; vault: string; share: string; holder: HolderSetting; pointer: string }

export function lowerHolder({ address, markets, ...rest }: HolderSetting): HolderSetting {
  const ids = markets && { markets: markets.map((market) => market.toLowerCase()) }
  return { ...rest, ...ids, address: address.toLowerCase() }
}

/**
 * Reports holders that cannot be looked through: vaults and share tokens of the catalogue, two kinds on one address, a holder of
 * several shares whose events do not name which, and markets where the kind has none, or none where it has some.
 */
export function checkHolders(
  declared: readonly DeclaredAt[],
  taken: { vaults: ReadonlySet<string> },
  report: (pointer: string, message: string) => void,
): void {
  const seen = new Map<string, DeclaredAt>()
  for (const each of declared) {
    const { chainId, holder, share, pointer } = each
    const key = chainKey(chainId, holder.address)
    if (taken.vaults.has(key))
      report(
        `${pointer}/address`,
        `${holder.address} is a vault, or the share of one: its own holders are followed already`,
      )
    const byMarket = findHolderKind(holder.kind)?.byMarket === true
    if (byMarket && holder.markets === undefined)
      report(pointer, `a holder of kind ${holder.kind} needs "markets": the ids of those whose collateral is ${share}`)
    if (!byMarket && holder.markets !== undefined)
      report(`${pointer}/markets`, `a holder of kind ${holder.kind} keeps nothing by market`)
    const other = seen.get(key)
    seen.set(key, each)
    if (!other) continue
    if (other.holder.kind !== holder.kind)
      report(`${pointer}/kind`, `${holder.address} is declared as ${other.holder.kind} already`)
    else if (!byMarket && other.share !== share)
      report(
        `${pointer}/address`,
        `${holder.address} is declared for ${other.share} already: its events do not name the share`,
      )
    else if (other.share === share && other.holder.activeFrom === holder.activeFrom)
      report(pointer, `${holder.address} is declared twice from the same instant`)
  }
}
