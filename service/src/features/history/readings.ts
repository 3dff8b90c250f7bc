import { formatUnits, parseDecimal, usdDecimals } from '../../kernel/amount.js'

/** A snapshot of a vault as a series is made of it. Amounts are digits: most of them are never counted with. */
export type Reading = {
  /** Unix seconds. */
  at: number
  blockNumber: number
  totalAssets: string
  totalSupply: string
  priceNumerator: string
  priceExponent: number
  /** US dollars of a whole base asset, scaled by 10^18; undefined if no price was known. */
  priceUsd: bigint | undefined
  /** Without `0x`; `-` where it was not asked for. */
  blockHash: string
}

/** The decimals of a vault's base asset and of its receipt token. */
export type Decimals = { assetDecimals: number; receiptDecimals: number }

/** The readings of lines in any order, oldest first, each once. Pure. */
export function parseReadings(lines: string): Reading[] {
  if (lines === '') return []
  const prices = new Map<string, bigint>()
  const readings = lines.split('\n').map((line): Reading => {
    const [at, blockNumber, totalAssets, totalSupply, priceNumerator, priceExponent, price, blockHash] = line.split(
      ' ',
    ) as [string, string, string, string, string, string, string, string]
    let priceUsd = prices.get(price)
    if (priceUsd === undefined && price !== '-') {
      priceUsd = parseDecimal(price, usdDecimals)
      prices.set(price, priceUsd)
    }
    const amounts = { totalAssets, totalSupply, priceNumerator, priceExponent: Number(priceExponent) }
    return { at: Number(at), blockNumber: Number(blockNumber), ...amounts, priceUsd, blockHash }
  })
  const inOrder = readings.sort((a, b) => a.at - b.at || a.blockNumber - b.blockNumber)
  return inOrder.filter((one, index) => one.blockNumber !== inOrder[index - 1]?.blockNumber)
}

/** Digits after the point of a price numerator: `sharePrice` is the numerator over ten to this power. Pure. */
export function priceScale({ priceExponent }: Reading, { assetDecimals, receiptDecimals }: Decimals): number {
  return assetDecimals + priceExponent - receiptDecimals
}

/** A number of smallest units as the nearest float of whole units. Pure. */
export function toNumber(raw: string | bigint, decimals: number): number {
  return Number(`${raw}e${-decimals}`)
}

/** US dollars as the nearest float, of an exact value cut after 18 digits; null without a price. Pure. */
export function toUsd(raw: string, decimals: number, priceUsd: bigint | undefined): number | null {
  if (priceUsd === undefined) return null
  return toNumber(cutUsd(BigInt(raw), decimals, priceUsd), usdDecimals)
}

/** US dollars of an amount, scaled by 10^18 and cut. Pure. */
export function cutUsd(raw: bigint, decimals: number, priceUsd: bigint): bigint {
  const value = raw * priceUsd
  return decimals >= 0 ? value / 10n ** BigInt(decimals) : value * 10n ** BigInt(-decimals)
}

/** The share price as a plain decimal, exact. Pure. */
export function formatSharePrice(reading: Reading, decimals: Decimals): string {
  const scale = priceScale(reading, decimals)
  const numerator = BigInt(reading.priceNumerator)
  return scale >= 0 ? formatUnits(numerator, scale) : formatUnits(numerator * 10n ** BigInt(-scale), 0)
}

/** A price as a plain decimal; null without a price. Pure. */
export function formatPrice(priceUsd: bigint | undefined): string | null {
  return priceUsd === undefined ? null : formatUnits(priceUsd, usdDecimals)
}
