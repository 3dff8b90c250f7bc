'use client'

import { usePortfolio } from '@openearn/react'
import type { types } from '@openearn/sdk'
import { toUnits } from './figures.js'

export type Held = types.TokenHolding

/** The portfolio of a wallet with its shares of vaults: one read, whichever parts show it. */
export const useHoldings = (account: `0x${string}`) => usePortfolio({ address: account, includeProtocolTokens: true })

/** The tokens of a wallet, shares of vaults among them; undefined until they are read. */
export function useHeld(account: `0x${string}`): readonly Held[] | undefined {
  const { data } = useHoldings(account)
  return data?.portfolio.holdings.wallets.flatMap(({ tokens }) => tokens)
}

/** The amount that a wallet has of a token; undefined where it is not known. */
export function amountOf(
  held: readonly Held[] | undefined,
  token: { address: string; chainId: number; isNative?: boolean },
): bigint | undefined {
  if (!held) return undefined
  const isSame = (each: Held) =>
    each.chainId === token.chainId &&
    each.isNative === (token.isNative ?? false) &&
    each.address.toLowerCase() === token.address.toLowerCase()
  return toUnits(held.find(isSame)?.amountRaw)
}
