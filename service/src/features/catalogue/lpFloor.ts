import { parseDecimal, usdDecimals } from '../../kernel/amount.js'
import type { VaultFigures } from '../../vaults/index.js'

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/**
 * Shares worth a cent, from which a wallet of a newly listed vault is an LP: by the vault's own price, or one to one where its
 * supply is too small for its price to be a reading. Rounded up to one figure. Undefined where the price is 0. Pure.
 */
export function computeLpFloor(of: {
  assetDecimals: number
  receiptDecimals: number
  priceUsd: string
  figures: Pick<VaultFigures, 'totalSupply' | 'priceNumerator' | 'priceExponent'> | undefined
  dustFloor: string
}): bigint | undefined {
  const price = parseDecimal(of.priceUsd, usdDecimals)
  if (price <= 0n) return undefined
  const assets = ceilDiv(10n ** BigInt(of.assetDecimals + usdDecimals), 100n * price)
  const { figures } = of
  const isReading = figures && figures.priceNumerator > 0n && figures.totalSupply >= BigInt(of.dustFloor)
  const shares = isReading
    ? ceilDiv(assets * 10n ** BigInt(figures.priceExponent), figures.priceNumerator)
    : ceilDiv(assets * 10n ** BigInt(of.receiptDecimals), 10n ** BigInt(of.assetDecimals))
  const unit = 10n ** BigInt(String(shares).length - 1)
  return ceilDiv(shares, unit) * unit
}
