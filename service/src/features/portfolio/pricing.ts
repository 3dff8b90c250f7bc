import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'
import type { Amount, Item, ShareOf, ShownToken } from './adapter.js'

/** Worth of tokens of a chain at a block. */
export type Pricing = {
  /** US dollars of a whole token, a plain decimal. */
  priceOf(address: string): string | undefined
  /** False where no price could be read at all. */
  isKnown: boolean
}

/** How deep shares of shares are followed. */
const depthMax = 8

/**
 * A token has the price that was observed of it; a share that has none is worth its part of what it is a share of, where
 * that is priced. A circle of shares has no price. Pure.
 */
export function createPricing(
  observed: ReadonlyMap<string, string>,
  shares: ReadonlyMap<string, ShareOf>,
  isKnown: boolean,
): Pricing {
  const find = (address: string, depth: number): string | undefined => {
    const own = observed.get(address)
    if (own !== undefined || depth >= depthMax) return own
    const share = shares.get(address)
    const asset = share && find(share.asset, depth + 1)
    if (!share || asset === undefined) return undefined
    const numerator = share.numerator * parseDecimal(asset, usdDecimals) * 10n ** BigInt(share.decimals)
    return formatUnits(numerator / 10n ** BigInt(share.exponent + share.assetDecimals), usdDecimals)
  }
  return { isKnown, priceOf: (address) => find(address, 0) }
}

/**
 * Prices with that of the native token: the wrapped one's where that has one, for the two are exchanged one for one; else
 * its own. Addresses lower-case. Pure.
 */
export function priceNative(
  observed: ReadonlyMap<string, string>,
  { native, wrapped }: { native: string; wrapped: string | undefined },
): ReadonlyMap<string, string> {
  const price = observed.get(wrapped ?? '') ?? observed.get(native)
  return price === undefined ? observed : new Map(observed).set(native, price)
}

/** The addresses of everything that has to be priced, with what to call them. */
export function listPriced(
  idle: readonly { token: Pick<ShownToken, 'address' | 'symbol'> }[],
  found: readonly { item: Item }[],
): ReadonlyMap<string, string> {
  const amounts = found.flatMap(({ item }) => listAmounts(item))
  const explained = new Set(amounts.flatMap(({ explains }) => explains ?? []))
  const own = idle.filter(({ token }) => !explained.has(token.address))
  return new Map([
    ...own.map(({ token }) => [token.address, token.symbol || token.address] as const),
    ...amounts.map(({ token }) => [token.address, token.symbol || token.address] as const),
  ])
}

export function listAmounts(item: Item): Amount[] {
  return [...item.supplied, ...item.borrowed, ...item.rewards]
}

/** US dollars times 10^18 of an amount in smallest units; undefined without a price. Cut after 18 digits. */
export function computeValue(raw: bigint, decimals: number, priceUsd: string | undefined): bigint | undefined {
  return priceUsd === undefined ? undefined : (raw * parseDecimal(priceUsd, usdDecimals)) / 10n ** BigInt(decimals)
}

export function formatUsd(value: bigint): string {
  return formatUnits(value, usdDecimals)
}
