// Nothing of viem here: it takes a fifth of a second to load, and every command loads this file.

/** Parses a `raw` amount, an integer as a decimal text in the token's smallest unit; undefined when it is not one. */
export function parseRaw(text: string): bigint | undefined {
  if (!/^[0-9]{1,78}$/.test(text)) return undefined
  const value = BigInt(text)
  return value < 2n ** 256n ? value : undefined
}

/** An amount in whole units as a plain decimal string (`dec`): no exponent, no trailing zeros. */
export function formatUnits(raw: bigint, decimals: number): string {
  const negative = raw < 0n
  const digits = (negative ? -raw : raw).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

/** Parses a plain decimal string into an integer scaled by 10^decimals; digits beyond that are cut. */
export function parseDecimal(text: string, decimals: number): bigint {
  const match = /^(-?)([0-9]+)(?:\.([0-9]*))?$/.exec(text)
  if (!match) throw new RangeError(`not a plain decimal: ${text}`)
  const fraction = (match[3] ?? '').padEnd(decimals, '0').slice(0, decimals)
  const value = BigInt((match[2] ?? '0') + fraction)
  return match[1] ? -value : value
}

/** Digits kept after the point for US dollars in storage and in `dec` members. */
export const usdDecimals = 18

/** USD value (`dec`) of a raw amount at a price (`dec`, USD per whole unit), exact, cut after 18 digits. */
export function computeUsd(raw: bigint, decimals: number, priceUsd: string): string {
  const price = parseDecimal(priceUsd, usdDecimals)
  return formatUnits((raw * price) / 10n ** BigInt(decimals), usdDecimals)
}
