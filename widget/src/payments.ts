import type { types } from '@openearn/sdk'
import type { Held } from './holdings.js'

/** A token that is paid or paid out. `isSwapped`: the vault does not take or pay it itself. */
export type Payment = types.Token & { isNative: boolean; isSwapped: boolean }

const listedMax = 50

/** Whether tokens that the vault does not take can be swapped to one that it takes, and back. */
export const takesOthers = ({ swapDirectEnabled, swapRouteEnabled, meta }: types.Opportunity): boolean =>
  swapDirectEnabled || swapRouteEnabled || meta.routedSwapEnabled

export const isSame = (one: { address: string }, other: { address: string }): boolean =>
  one.address.toLowerCase() === other.address.toLowerCase()

/** Tokens of the wallet on the vault's chain that are neither a share of a vault nor among `taken`. */
export function listOthers(
  { chainId, receiptToken }: types.Opportunity,
  held: readonly Held[],
  taken: readonly types.Token[],
): Held[] {
  const isTaken = (each: Held) => !each.isNative && taken.some((token) => isSame(token, each))
  return held
    .filter(
      (each) =>
        each.chainId === chainId &&
        !each.isProtocolToken &&
        !isTaken(each) &&
        (each.isNative || !isSame(each, receiptToken)),
    )
    .slice(0, listedMax)
}

const direct = (token: types.Token): Payment => ({ ...token, isNative: false, isSwapped: false })
const swapped = (token: Held): Payment => ({ ...token, isSwapped: true })

/** The tokens that a deposit is paid with: those that the vault takes, and those of the wallet that can be swapped to one. */
export function listPayments(vault: types.Opportunity, held: readonly Held[]): Payment[] {
  const own = vault.meta.directInteractionEnabled ? vault.depositTokens : []
  const others = takesOthers(vault) ? listOthers(vault, held, own) : []
  return [...own.map(direct), ...others.map(swapped)]
}

/** The tokens that a withdrawal pays: the vault's own, and those of the wallet that it can be swapped to. */
export function listPayouts(vault: types.Opportunity, held: readonly Held[]): Payment[] {
  const { baseToken, meta } = vault
  // A request is paid later, at a price that nobody knows yet.
  const others = takesOthers(vault) && !meta.asyncWithdraw ? listOthers(vault, held, [baseToken]) : []
  return [direct(baseToken), ...others.map(swapped)]
}

export const keyOf = ({ address, isNative }: { address: string; isNative: boolean }): string =>
  isNative ? 'native' : address
