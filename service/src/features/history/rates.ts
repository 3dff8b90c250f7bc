/** A figure whose growth is measured: `numerator` over 10^`exponent`, both of one vault and one source. */
export type Figure = { numerator: bigint; exponent: number }

export const yearSeconds = 31_536_000
const fine = 10n ** 30n

/** Growth from one figure to a later one as a fraction; undefined if the first is 0. Pure. */
export function computeGrowth(from: Figure, to: Figure): number | undefined {
  const same = from.exponent === to.exponent
  const p0 = same ? from.numerator : from.numerator * 10n ** BigInt(to.exponent)
  const p1 = same ? to.numerator : to.numerator * 10n ** BigInt(from.exponent)
  if (p0 === 0n) return undefined
  return Number(((p1 - p0) * fine) / p0) / 1e30
}

/** Simple rate in percent a year; undefined where it is not finite. Pure. */
export function computeApr(growth: number, seconds: number): number | undefined {
  return round(((growth * yearSeconds) / seconds) * 100)
}

/** Compound rate in percent a year; a plain power would lose every digit of a small growth. Pure. */
export function computeApy(growth: number, seconds: number): number | undefined {
  return round(Math.expm1((Math.log1p(growth) * yearSeconds) / seconds) * 100)
}

/** To 12 significant digits, so that any language counts the same number again. Pure. */
export function round(value: number): number | undefined {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) : undefined
}
